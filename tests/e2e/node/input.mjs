// Two kinds of user input with the same interface: by mouse, and by keyboard alone.

import { check } from './protocol.mjs'

export class Mouse {
    constructor(page) {
        this.page = page
    }

    async fill(field, text) {
        await field.fill(text)
    }

    async press(control) {
        await control.click()
    }

    async choose(select, text) {
        await select.selectOption({ label: text })
    }

    async submit(field) {
        await field.press('Enter')
    }

    /// Selects all text of a field, as users do to copy it.
    async select(field) {
        await field.click({ clickCount: 3 })
    }
}

const stops_max = 120 // more than any page has

/// Runs in the page: whether `target` has the focus, and the focused element if its focus is not visible.
function inspect_focus(target) {
    const element = document.activeElement
    const reached = element === target
    if (element === document.body || element === document.documentElement) return { reached } // past the last one, back to the start
    const style = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2
    const inside = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
    return { reached, invisible: outlined && inside ? '' : element.outerHTML.slice(0, 120) }
}

export class Keyboard {
    constructor(page) {
        this.page = page
    }

    /// Presses Tab until `control` has the focus. The focus must be visible at each stop.
    async reach(control) {
        const target = await control.elementHandle()
        for (let stops = 0; stops <= stops_max; stops++) {
            const { reached, invisible } = await target.evaluate(inspect_focus)
            check(!invisible, `the focus is visible: ${invisible}`)
            if (reached) return
            await this.page.keyboard.press('Tab')
        }
        throw new Error(`${control} is not reached by Tab`)
    }

    async fill(field, text) {
        await this.reach(field)
        await this.page.keyboard.press('Control+A')
        await this.page.keyboard.type(text)
        check((await field.inputValue()) === text, `${text} was typed`)
    }

    async press(control) {
        await this.reach(control)
        const is_link = await control.evaluate((element) => element.tagName === 'A')
        await this.page.keyboard.press(is_link ? 'Enter' : 'Space')
    }

    async choose(select, text) {
        await this.reach(select)
        await this.page.keyboard.type(text)
        const chosen = await select.evaluate((element) => element.selectedOptions[0].textContent)
        check(chosen === text, `${text} is chosen, not ${chosen}`)
    }

    async submit(field) {
        await this.reach(field)
        await this.page.keyboard.press('Enter')
    }

    async select(field) {
        await this.reach(field)
        await this.page.keyboard.press('Control+A')
    }
}
