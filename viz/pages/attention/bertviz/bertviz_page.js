// @ts-check
// What bertviz's page gets beside bertviz: the keyboard, and the button that saves the picture.
import { reachByKeyboard } from "./bertviz_keys.js";
import { buildSaveButton } from "./bertviz_save.js";

reachByKeyboard();
buildSaveButton();
