;; Never ends when the host allocates memory for an input of thirteen bytes.
;;! realloc: (if (i32.eq (local.get $bytes) (i32.const 13)) (then (loop $for_ever (br $for_ever))))
(func $hostile (param $n i32) (result i32) (unreachable))
