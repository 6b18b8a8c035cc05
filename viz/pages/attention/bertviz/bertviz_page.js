// @ts-check
// What bertviz's page gets beside bertviz: the keyboard, and buttons that save the picture.
import { reachByKeyboard } from "./bertviz_keys.js";
import { buildSaveButtons } from "./bertviz_save.js";

reachByKeyboard();
buildSaveButtons();
