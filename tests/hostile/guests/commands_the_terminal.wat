;; Escape sequences, line breaks and a forged line of a log, printed and as an exception.
(data (i32.const 1024) "\1b[2J\1b]0;owned\07\r\n{\22level\22:\22ERROR\22,\22message\22:\22forged by a guest\22}\r\n")
(func $hostile (param $n i32) (result i32)
  (call $write (call $get_stdout) (i32.const 1024) (i32.const 65) (i32.const 32))
  (call $fail (i32.const 1024) (i32.const 65)))
