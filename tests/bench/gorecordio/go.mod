module tandem.example/gotorch/bench/gorecordio

go 1.26

require github.com/wangkuiyi/recordio v0.0.0
