;; Asks for the time, again and again.
(func $hostile (param $n i32) (result i32)
  (loop $again (drop (call $now)) (br $again))
  (unreachable))
