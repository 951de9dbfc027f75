;; Has a shared memory.
;;! component: (core module (memory 1 1 shared))
(func $hostile (param $n i32) (result i32) (unreachable))
