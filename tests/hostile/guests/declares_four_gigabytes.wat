;; Begins with all the memory that there can be.
;;! memory: 65536
(func $hostile (param $n i32) (result i32) (unreachable))
