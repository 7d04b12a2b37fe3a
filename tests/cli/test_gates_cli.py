"""Gates of `score`, `place`, `compare`, `checklists table` and `discern run` on the command line."""

from __future__ import annotations

import json
import os
from xml.etree import ElementTree

import pytest
from makers.judged_folders import *  # noqa
