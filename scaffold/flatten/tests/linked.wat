;; What linking leaves: a module with the memory, the table and the globals, and a library that imports them.
(component
  (import "lathe:test/host" (instance $host
    (export "double" (func (param "number" u32) (result u32)))
  ))
  (core func $double (canon lower (func $host "double")))

  (core module $base
    (memory (export "memory") 1)
    (table (export "table") 4 funcref)
    (global (export "table_base") i32 (i32.const 1))
    (global (export "offset") (mut i32) (i32.const 8))
    (global (export "calls") (mut i32) (i32.const 40))
    (data (i32.const 8) "\07\00\00\00")
  )
  (core module $library
    (type $function (func (param i32) (result i32)))
    (import "env" "memory" (memory 1))
    (import "env" "table" (table 4 funcref))
    (import "env" "table_base" (global $table_base i32))
    (import "env" "offset" (global $offset (mut i32)))
    (import "env" "calls" (global $calls (mut i32)))
    (import "lathe:test/host" "double" (func $double (type $function)))
    (elem (global.get $table_base) func $add)
    (func $add (type $function) (i32.add (local.get 0) (i32.load (global.get $offset))))
    (func $never_called (export "never_called") (result i32) (global.get $table_base))
    (func (export "run") (type $function)
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (i32.add
        (global.get $calls)
        (call $double (call_indirect (type $function) (local.get 0) (global.get $table_base))))
    )
  )

  ;; A lowered function may need the memory of a module that imports it: the module calls it through a table then.
  (core module $trampolines
    (type $function (func (param i32) (result i32)))
    (table (export "$imports") 1 1 funcref)
    (func (export "0") (type $function) (call_indirect (type $function) (local.get 0) (i32.const 0)))
  )
  (core module $filler
    (import "" "0" (func (param i32) (result i32)))
    (import "" "$imports" (table 1 1 funcref))
    (elem (i32.const 0) func 0)
  )

  (core instance $trampolines (instantiate $trampolines))
  (alias core export $trampolines "0" (core func $jump))
  (alias core export $trampolines "$imports" (core table $slots))
  (core instance $base (instantiate $base))
  (core instance $library (instantiate $library
    (with "env" (instance $base))
    (with "lathe:test/host" (instance (export "double" (func $jump))))
  ))
  (core instance $filler (instantiate $filler
    (with "" (instance (export "$imports" (table $slots)) (export "0" (func $double))))
  ))
  (func (export "run") (param "number" u32) (result u32) (canon lift (core func $library "run")))
)
