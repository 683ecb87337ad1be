module tandem.example/gotorch/schedulers

go 1.26

require tandem.example/gotorch v0.0.0

replace tandem.example/gotorch => ../../../go
