module tandem.example/gotorch

go 1.26
