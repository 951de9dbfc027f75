;; Prints 64 KiB 1,600 times.
(func $hostile (param $n i32) (result i32)
  (local $stdout i32)
  (drop (memory.grow (i32.const 1)))
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 65536))
  (local.set $stdout (call $get_stdout))
  (loop $again
    (call $write (local.get $stdout) (i32.const 65536) (i32.const 65536) (i32.const 32))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1600))))
  (call $ok (i32.const 64) (i32.const 4)))
