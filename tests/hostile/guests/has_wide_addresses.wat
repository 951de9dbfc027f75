;; A memory of 64-bit addresses, of a terabyte.
;;! component: (core module (memory i64 16777216))
(func $hostile (param $n i32) (result i32) (unreachable))
