"""The pages of annotators."""

from .page import sheet_page as sheet_page
from .page import write_sheet as write_sheet
