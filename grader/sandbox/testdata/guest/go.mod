module redeliver

go 1.26.0
