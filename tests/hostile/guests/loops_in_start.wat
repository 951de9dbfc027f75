;; Never ends its instantiation.
(start $begin)
(func $begin (loop $for_ever (br $for_ever)))
(func $hostile (param $n i32) (result i32) (unreachable))
