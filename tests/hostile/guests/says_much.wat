;; Returns this many characters of one byte.
(func $hostile (param $n i32) (result i32)
  (drop (memory.grow (i32.const 200)))
  (memory.fill (i32.const 65536) (i32.const 120) (local.get $n))
  (call $ok (i32.const 65536) (local.get $n)))
