;; Returns this many characters of four bytes.
(func $hostile (param $n i32) (result i32)
  (local $at i32) (local $end i32)
  (drop (memory.grow (i32.const 200)))
  (local.set $at (i32.const 65536))
  (local.set $end (i32.add (i32.const 65536) (i32.mul (local.get $n) (i32.const 4))))
  (loop $next
    (i32.store (local.get $at) (i32.const 0x80989ff0))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
  (call $ok (i32.const 65536) (i32.mul (local.get $n) (i32.const 4))))
