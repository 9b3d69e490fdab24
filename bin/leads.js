#!/usr/bin/env node
'use strict';
// CommonJS on purpose: on node 20 it starts 3 ms sooner than an ES module.
require('node:module').enableCompileCache?.();
require('../dist/main.cjs');
