;; Declares a memory of the maximum size.
;;! memory: 65536
(func $hostile (param $n i32) (result i32) (unreachable))
