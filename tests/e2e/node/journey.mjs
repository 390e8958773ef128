// Through every page, as a person goes: each step says what must be there for the next to make sense.

import { check } from './talk.mjs'

const settings = '/en/user/settings/'

export class Journey {
    /// `told`: what the test knows of the server. `listener`: the application that people come back to.
    constructor({ page, hands, eyes, told, listener }) {
        Object.assign(this, { page, hands, eyes, told, listener })
    }

    // What steps are made of

    async arrive(leave, status = 200) {
        const [response] = await Promise.all([this.page.waitForNavigation(), leave()])
        check(response.status() === status, `${status} at ${response.url()}, not ${response.status()}`)
        await this.check_page()
    }

    async go(path, status = 200) {
        await this.arrive(() => this.page.goto(new URL(path, this.told.auth).href), status)
    }

    async press(what, status = 200) {
        await this.arrive(() => this.hands.press(what), status)
    }

    async check_page() {
        if (!this.page.url().startsWith(this.told.auth + '/')) return
        check((await this.page.locator('h1').count()) === 1, 'one heading says what the page is')
        check((await this.page.locator('html').getAttribute('lang')) === 'en', 'a language')
    }

    button(name) {
        return this.page.getByRole('main').getByRole('button', { name, exact: true })
    }

    field(name) {
        return this.page.locator(`[name="${name}"]`)
    }

    async text() {
        return this.page.locator('main').innerText()
    }

    async check_text(...parts) {
        const text = await this.text()
        for (const each of parts) check(text.includes(each), `${each} in ${text}`)
    }

    async value(id) {
        return this.page.locator(`#${id}`).inputValue()
    }

    /// The field that is at fault has the focus, and says why.
    async check_fault(name) {
        const seen = await this.page.evaluate(() => {
            const field = document.activeElement
            const group = field.closest('fieldset') ?? field
            return {
                name: field.getAttribute('name'),
                told: (group.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.innerText ?? '').join(' '),
                invalid: field.getAttribute('aria-invalid') === 'true' || group !== field,
            }
        })
        check(seen.name === name && seen.invalid && seen.told.includes('Error:'), `a fault at ${name}: ${JSON.stringify(seen)}`)
        check((await this.page.title()).startsWith('Error'), 'the title says so first')
    }

    row(text) {
        return this.page.locator('.items > li').filter({ hasText: text })
    }

    /// Opens the question, closes it by Escape and by its button, and leaves the other button to be pressed.
    async open(row, label) {
        const opener = row.getByRole('button', { name: new RegExp(`^${label} `) })
        const dialog = row.locator('.confirm:popover-open')
        await this.hands.press(opener)
        await dialog.waitFor()
        await this.page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
        check(await opener.evaluate((element) => element === document.activeElement), 'the focus is back where it was')
        await this.hands.press(opener)
        await this.hands.press(dialog.getByRole('button', { name: 'Cancel' }))
        await dialog.waitFor({ state: 'detached' })
        await this.hands.press(opener)
        return dialog.locator('.danger')
    }

    async status_of(authorization) {
        const response = await fetch(`${this.told.api}/user/balance`, { headers: { Authorization: authorization } })
        await response.arrayBuffer()
        return response.status
    }

    async post(path, fields) {
        const response = await fetch(this.told.auth + path, { method: 'POST', body: new URLSearchParams(fields) })
        return { status: response.status, ...(await response.json()) }
    }

    request(client, scope, { path = '/en/user/oauth/', state = 'st&te' } = {}) {
        return path + '?' + new URLSearchParams({ client_id: client.id, response_type: 'code', scope, redirect_uri: client.redirect, state })
    }

    // The steps

    async sign_in(login, password, status = 200) {
        await this.hands.fill(this.field('login'), login)
        await this.hands.fill(this.field('password'), password)
        await this.arrive(() => this.hands.submit(this.field('password')), status)
    }

    async signing_in() {
        await this.go('/')
        check(new URL(this.page.url()).pathname === '/en/user/sign_in/', 'who is nobody signs in first')
        await this.eyes.look('sign_in')
        await this.sign_in(this.told.login, 'wrong', 422)
        await this.check_fault('password')
        check((await this.field('login').inputValue()) === this.told.login, 'what was typed stays')
        check((await this.field('password').inputValue()) === '', 'but never a password')
        await this.eyes.look('sign_in_wrong')
        await this.hands.fill(this.field('password'), this.told.password)
        await this.press(this.button('Sign in'))
        check(this.page.url() === this.told.auth + '/en/user/', 'on to the overview')
        await this.check_text('Balance', 'What has access', 'Recent activity')
        await this.eyes.look('overview')
        await this.press(this.page.getByRole('navigation').getByRole('link', { name: 'Tokens' }))
        await this.eyes.look('tokens')
    }

    async skipping() {
        await this.go(settings + 'tokens/')
        await this.page.keyboard.press('Tab')
        const skip = this.page.locator('.skip')
        check(await skip.evaluate((element) => element === document.activeElement), 'the first stop skips')
        const box = await skip.boundingBox()
        check(box.x >= 0 && box.y >= 0, 'and is seen then')
        await this.page.keyboard.press('Enter')
        await this.page.keyboard.press('Tab')
        check(await this.page.evaluate(() => document.querySelector('main').contains(document.activeElement)), 'to the content')
    }

    async tokens() {
        await this.go(settings + 'tokens/')
        await this.hands.fill(this.field('description'), 'Nightly backup')
        await this.press(this.button('Create token'), 422)
        await this.check_fault('scopes')
        await this.eyes.look('tokens_wrong')
        await this.hands.press(this.page.locator('[value="user:balance"]'))
        await this.press(this.button('Create token'))
        await this.eyes.look('token_made')
        const [username, secret] = await this.page.locator('textarea.copied').evaluateAll((all) => all.map((each) => each.value))
        const token = 'Basic ' + Buffer.from(`${username}:${secret}`).toString('base64')
        check((await this.status_of(token)) === 200, 'the token is good')
        await this.check_copied(this.page.locator('textarea.copied').last(), secret)
        await this.press(this.page.getByRole('main').getByRole('link'))
        check(!(await this.page.content()).includes(secret), 'the secret was shown once')
        await this.page.reload()
        check(!(await this.page.content()).includes(secret), 'the secret was shown once')
        const revoke = await this.open(this.row(username), 'Revoke')
        await this.eyes.look('tokens_revoke')
        await this.press(revoke)
        await this.eyes.look('tokens_revoked')
        check((await this.status_of(token)) === 401, 'the token is good no longer')
    }

    /// All of a secret can be selected, and with a script a button copies it.
    async check_copied(field, value) {
        await this.hands.select(field)
        const selected = await field.evaluate((element) => element.value.slice(element.selectionStart, element.selectionEnd))
        check(selected === value, `all of it is selected, not "${selected}"`)
        const { cut, hidden } = await field.evaluate((element) => ({
            cut: element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight + 1,
            hidden: element.nextElementSibling.hidden,
        }))
        check(!cut, 'the whole secret is seen')
        check(hidden === !this.told.scripts, 'a button that copies, if it can')
        if (!this.told.scripts) return
        await this.hands.press(this.page.locator('[data-copies]').last())
        await this.page.locator('[data-copies]').last().getByText('Copied').waitFor()
        check((await this.page.evaluate(() => navigator.clipboard.readText())) === value, 'the secret was copied')
    }

    async applications() {
        await this.go(settings + 'applications/')
        await this.eyes.look('applications')
        await this.hands.fill(this.field('name'), 'Monthly reports')
        await this.hands.fill(this.field('website'), 'ftp://reports.example')
        await this.press(this.button('Register application'), 422)
        await this.check_fault('website')
        await this.eyes.look('applications_wrong')
        await this.hands.fill(this.field('website'), this.listener.origin)
        await this.hands.fill(this.field('description'), 'Sums up what your accounts did.')
        await this.hands.fill(this.field('redirect_url'), this.listener.url)
        await this.press(this.button('Register application'))
        await this.eyes.look('application_made')
        this.client = { id: await this.value('client-id'), secret: await this.value('client-secret'), redirect: this.listener.url }
        await this.press(this.page.getByRole('main').getByRole('link'))
        check(!(await this.page.content()).includes(this.client.secret), 'the secret was shown once')
        const renew = await this.open(this.row('Monthly reports'), 'New secret')
        await this.eyes.look('applications_new_secret')
        await this.press(renew)
        const before = this.client.secret
        this.client.secret = await this.value('client-secret')
        check(before !== this.client.secret, 'another secret')
        await this.eyes.look('application_renewed')
    }

    /// Presses a button of the consent page: what the application is told.
    async decide(name) {
        await this.press(this.button(name))
        check(this.page.url().startsWith(this.listener.url), `back at the application, not at ${this.page.url()}`)
        return Object.fromEntries(new URL(this.page.url()).searchParams)
    }

    async consent() {
        await this.go(this.request(this.client, 'user:balance,sitesmaker:read'))
        await this.check_text('Monthly reports', 'View your balance', 'user:balance', 'sitesmaker:read', this.listener.origin)
        check((await this.page.locator('body').innerText()).includes(this.told.login), 'as whom one is signed in')
        await this.eyes.look('consent')
        const refused = await this.decide('Cancel')
        check(refused.error === 'access_denied' && refused.state === 'st&te' && !refused.code, JSON.stringify(refused))

        // Somebody else signs out and comes back to the same request.
        await this.go(this.request(this.client, 'user:balance,sitesmaker:read'))
        await this.press(this.button('Not you?'))
        check(new URL(this.page.url()).pathname === '/en/user/sign_in/', 'signed out')
        await this.sign_in(this.told.login, this.told.password)
        await this.check_text('View your balance', 'Either way you return to')
        const form = await this.page.locator('[name="decision"][value="allow"]').evaluate((button) => [...new FormData(button.form, button)])
        const allowed = await this.decide('Authorize Monthly reports')
        check(allowed.state === 'st&te' && allowed.iss === this.told.auth, JSON.stringify(allowed))
        const tokens = await this.post('/user/oauth_token/', {
            client_id: this.client.id, client_secret: this.client.secret, grant_type: 'authorization_code', code: allowed.code,
        })
        check(tokens.status === 200 && tokens.scope === 'user:balance sitesmaker:read', JSON.stringify(tokens))
        this.bearer = `Bearer ${tokens.access_token}`
        check((await this.status_of(this.bearer)) === 200, 'the access token is good')

        // The page is sent once more, by somebody impatient.
        await this.go(settings + 'authorizations/')
        await this.arrive(() => this.page.evaluate((pairs) => {
            const again = Object.assign(document.createElement('form'), { method: 'post', action: '/en/user/oauth/' })
            for (const [name, value] of pairs) again.append(Object.assign(document.createElement('input'), { name, value }))
            document.body.append(again)
            again.submit()
        }, form), 409)
        await this.eyes.look('consent_answered')
        await this.go(this.request(this.client, 'user:balance'))
        check(this.page.url().startsWith(this.listener.url + '?code='), 'what was granted before is not asked again')
        await this.go(this.request(this.client, 'itemplatform,sitesmaker,user:balance'))
        await this.eyes.look('consent_more')
        await this.go(this.request({ ...this.client, id: 'nobody' }, 'user:balance'), 400)
        await this.eyes.look('consent_unknown')
        await this.go(this.request({ ...this.client, redirect: 'https://elsewhere.example/' }, 'user:balance'), 400)
        await this.eyes.look('consent_redirect')
        await this.go(this.request(this.told.long, 'user:balance,sitesmaker:read,itemplatform:read,sitesmaker,itemplatform'))
        await this.eyes.look('consent_long')
    }

    async authorizations() {
        await this.go(settings + 'authorizations/')
        const revoke = await this.open(this.row('Monthly reports'), 'Revoke')
        await this.eyes.look('authorizations')
        await this.press(revoke)
        await this.eyes.look('authorizations_revoked')
        check((await this.status_of(this.bearer)) === 401, 'the access token is good no longer')
        await this.go(this.request(this.client, 'user:balance'))
        check(await this.button('Authorize Monthly reports').isVisible(), 'asked again')
    }

    async webhooks() {
        await this.go(settings + 'webhooks/')
        await this.eyes.look('webhooks')
        await this.hands.choose(this.field('account'), this.told.account_name)
        await this.press(this.button('Continue'))
        await this.eyes.look('webhooks_event')
        await this.hands.choose(this.field('event'), 'site.published')
        await this.hands.fill(this.field('target_url'), 'http://127.0.0.1/hook')
        await this.press(this.button('Create webhook'), 422)
        await this.check_fault('target_url')
        await this.eyes.look('webhooks_wrong')
        await this.hands.fill(this.field('target_url'), 'https://example.com/hook')
        await this.press(this.button('Create webhook'))
        await this.eyes.look('webhook_made')
        const secret = await this.value('secret')
        check(secret.startsWith('whsec_'), secret)
        const hooks = await this.hooks()
        check(hooks.length === 1 && hooks[0].source === 'manual' && hooks[0].event === 'site.published', JSON.stringify(hooks))

        await this.press(this.page.getByRole('main').getByRole('link'))
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'Edit' }))
        await this.hands.fill(this.field('target_url'), 'http://127.0.0.1/hook')
        await this.press(this.button('Save changes'), 422)
        await this.check_fault('target_url')
        await this.eyes.look('webhook_edit_wrong')
        await this.hands.fill(this.field('target_url'), 'https://example.com/hook')
        await this.press(this.button('Save changes'))
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'Deliveries' }))
        await this.press(this.button('Send test event'))
        await this.check_text('A test event')
        await this.eyes.look('deliveries_tested')
        await this.press(this.button('Send all failed again'))
        await this.check_text('No delivery failed')
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'Failed', exact: true }))
        await this.eyes.look('deliveries_failed')
        await this.go(settings + 'webhooks/')
        const renew = await this.open(this.row('example.com/hook'), 'New secret')
        await this.eyes.look('webhooks_new_secret')
        await this.press(renew)
        check((await this.value('secret')) !== secret, 'another secret')
        await this.eyes.look('webhook_renewed')
        await this.press(this.page.getByRole('main').getByRole('link'))
        await this.press(await this.open(this.row('example.com/hook'), 'Delete'))
        await this.eyes.look('webhooks_deleted')
        check((await this.hooks()).length === 0, 'the webhook is gone')
    }

    async hooks() {
        const response = await fetch(`${this.told.api}/sitesmaker/${this.told.account}/hooks`, { headers: { Authorization: this.told.token } })
        return response.json()
    }

    async deleting_the_application() {
        await this.go(settings + 'applications/')
        const remove = await this.open(this.row('Monthly reports'), 'Delete')
        await this.hands.fill(this.row('Monthly reports').locator('[name="confirm_name"]'), 'Monthly reports')
        await this.press(remove)
        await this.check_text('were deleted')
        await this.go(this.request(this.client, 'user:balance'), 400)
    }

    async security() {
        await this.go(settings + 'security/')
        await this.check_text('This session', 'Change password')
        await this.eyes.look('security')
        await this.hands.fill(this.field('current_password'), 'wrong')
        await this.hands.fill(this.field('new_password'), 'a longer one')
        await this.hands.fill(this.field('repeated_password'), 'a longer one')
        await this.press(this.button('Change password'), 422)
        await this.check_fault('current_password')
        check((await this.field('new_password').inputValue()) === '', 'a password is not sent back')
        await this.eyes.look('security_wrong')
    }

    async what_is_not_there() {
        await this.go(settings + 'nothing/', 404)
        await this.eyes.look('not_found')
        await this.go('/docs/')
        await this.eyes.look('docs')
        await this.go(settings + 'tokens/')
        await this.page.locator('main form [name="form_token"]').last().evaluate((field) => { field.value = 'x' })
        await this.hands.fill(this.field('description'), 'forged')
        await this.press(this.button('Create token'), 403)
        await this.eyes.look('forbidden')
    }

    async signing_out() {
        await this.go('/en/user/sign_out/')
        await this.eyes.look('sign_out')
        await this.go(settings + 'authorizations/')
        await this.press(this.page.locator('header button'))
        await this.check_text('You are signed out')
        await this.eyes.look('signed_out')
        await this.page.goBack()
        check(new URL(this.page.url()).pathname === '/en/user/sign_in/', 'going back shows nothing that was seen before')
    }

    async asked_while_signed_out() {
        await this.go(this.request(this.client, 'user:balance,itemplatform:read'))
        await this.sign_in(this.told.login, this.told.password)
        check('code' in (await this.decide('Authorize Monthly reports')), 'a code')
        await this.go('/en/user/sign_out/')
        await this.press(this.button('Sign out'))
    }

    async on_one_page() {
        const address = this.request(this.client, 'itemplatform:read', { path: '/en/itemplatform/oauth/' })
        await this.go(address)
        await this.eyes.look('one_page')
        await this.hands.fill(this.field('login'), this.told.login)
        await this.hands.fill(this.field('password'), 'wrong')
        await this.press(this.button('Authorize Monthly reports'), 422)
        await this.check_fault('password')
        await this.eyes.look('one_page_wrong')
        check((await this.decide('Cancel')).error === 'access_denied', 'who refuses need not sign in')

        await this.go(address)
        await this.hands.fill(this.field('login'), this.told.login)
        await this.hands.fill(this.field('password'), this.told.password)
        check('code' in (await this.decide('Authorize Monthly reports')), 'a code')
        await this.go(address)
        check((await this.field('password').count()) === 0, 'signed in now, and asked all the same')
        await this.eyes.look('one_page_signed_in')
        check('code' in (await this.decide('Authorize Monthly reports')), 'a code')
    }

    async whole() {
        await this.signing_in()
        await this.skipping()
        await this.tokens()
        await this.applications()
        await this.consent()
        await this.authorizations()
        await this.webhooks()
        await this.security()
        await this.what_is_not_there()
        await this.signing_out()
        await this.asked_while_signed_out()
        await this.on_one_page()
        await this.deleting_the_application()
    }
}
