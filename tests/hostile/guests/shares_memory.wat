;; A memory for threads.
;;! component: (core module (memory 1 1 shared))
(func $hostile (param $n i32) (result i32) (unreachable))
