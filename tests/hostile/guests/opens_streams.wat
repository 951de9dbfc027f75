;; Opens a hundred thousand handles of one stream.
(func $hostile (param $n i32) (result i32)
  (loop $again
    (drop (call $get_stdout))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100000))))
  (call $ok (i32.const 64) (i32.const 4)))
