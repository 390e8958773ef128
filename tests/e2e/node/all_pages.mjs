// Visits every page as a user does. Each step checks the result of the one before.

import { check } from './protocol.mjs'

const settings = '/en/user/settings/'

export class AllPages {
    /// `config`: what the test knows of the server. `redirect`: the application to which the consent page redirects.
    constructor({ page, input, inspector, config, redirect }) {
        Object.assign(this, { page, input, inspector, config, redirect })
    }

    // Parts of steps

    async navigate(action, status = 200) {
        const [response] = await Promise.all([this.page.waitForNavigation(), action()])
        check(response.status() === status, `${status} at ${response.url()}, not ${response.status()}`)
        await this.check_page()
    }

    async go(path, status = 200) {
        await this.navigate(() => this.page.goto(new URL(path, this.config.auth).href), status)
    }

    async press(control, status = 200) {
        await this.navigate(() => this.input.press(control), status)
    }

    async check_page() {
        if (!this.page.url().startsWith(this.config.auth + '/')) return
        check((await this.page.locator('h1').count()) === 1, 'one heading')
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

    /// The invalid field has the focus, and its description is an error message.
    async check_invalid(name) {
        const focused = await this.page.evaluate(() => {
            const field = document.activeElement
            const group = field.closest('fieldset') ?? field
            return {
                name: field.getAttribute('name'),
                description: (group.getAttribute('aria-describedby') ?? '')
                    .split(' ')
                    .map((id) => document.getElementById(id)?.innerText ?? '')
                    .join(' '),
                invalid: field.getAttribute('aria-invalid') === 'true' || group !== field,
            }
        })
        check(focused.name === name && focused.invalid && focused.description.includes('Error:'), `an error at ${name}: ${JSON.stringify(focused)}`)
        check((await this.page.title()).startsWith('Error'), 'the title begins with Error')
    }

    row(text) {
        return this.page.locator('.items > li').filter({ hasText: text })
    }

    /// Opens the confirmation, closes it by Escape and by Cancel, opens it again, and returns the button that confirms.
    async confirmation(row, label) {
        const opener = row.getByRole('button', { name: new RegExp(`^${label} `) })
        const dialog = row.locator('.confirm:popover-open')
        await this.input.press(opener)
        await dialog.waitFor()
        const focus_is_inside = () => dialog.evaluate((element) => element.contains(document.activeElement))
        check(await focus_is_inside(), 'the focus is in the dialog')
        // Tab goes on to the browser's own controls, whose place is the body here, and returns.
        for (let stops = 0; stops < 6 || !(await focus_is_inside()); stops++) {
            await this.page.keyboard.press('Tab')
            const is_on_page = await this.page.evaluate(() => document.activeElement !== document.body)
            check(!is_on_page || (await focus_is_inside()), 'the focus stays in the dialog')
            check(stops < 12, 'the focus returns to the dialog')
        }
        await this.page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
        check(await opener.evaluate((element) => element === document.activeElement), 'the focus is on the button again')
        await this.input.press(opener)
        await this.input.press(dialog.getByRole('button', { name: 'Cancel' }))
        await dialog.waitFor({ state: 'detached' })
        await this.input.press(opener)
        return dialog.locator('.danger')
    }

    async status_of(authorization) {
        const response = await fetch(`${this.config.api}/user/balance`, { headers: { Authorization: authorization } })
        await response.arrayBuffer()
        return response.status
    }

    async post(path, fields) {
        const response = await fetch(this.config.auth + path, { method: 'POST', body: new URLSearchParams(fields) })
        return { status: response.status, ...(await response.json()) }
    }

    authorization_path(client, scope, { path = '/en/user/oauth/', state = 'st&te' } = {}) {
        return path + '?' + new URLSearchParams({ client_id: client.id, response_type: 'code', scope, redirect_uri: client.redirect, state })
    }

    // The steps

    async sign_in(login, password, status = 200) {
        await this.input.fill(this.field('login'), login)
        await this.input.fill(this.field('password'), password)
        await this.navigate(() => this.input.submit(this.field('password')), status)
    }

    async signing_in() {
        await this.go('/')
        check(new URL(this.page.url()).pathname === '/en/user/sign_in/', 'the sign-in page')
        await this.inspector.inspect('sign_in')
        await this.sign_in(this.config.login, 'wrong', 422)
        await this.check_invalid('password')
        check((await this.field('login').inputValue()) === this.config.login, 'the login is kept')
        check((await this.field('password').inputValue()) === '', 'the password is not sent back')
        await this.inspector.inspect('sign_in_wrong')
        await this.input.fill(this.field('password'), this.config.password)
        await this.press(this.button('Sign in'))
        check(this.page.url() === this.config.auth + '/en/user/', 'the overview')
        await this.check_text('Balance', 'Access to your account', 'Recent activity')
        await this.inspector.inspect('overview')
        await this.press(this.page.getByRole('navigation').getByRole('link', { name: 'Tokens' }))
        await this.inspector.inspect('tokens')
    }

    async skip_link() {
        await this.go(settings + 'tokens/')
        await this.page.keyboard.press('Tab')
        const skip = this.page.locator('.skip')
        check(await skip.evaluate((element) => element === document.activeElement), 'the skip link has the focus first')
        const box = await skip.boundingBox()
        check(box.x >= 0 && box.y >= 0, 'the skip link is visible')
        await this.page.keyboard.press('Enter')
        await this.page.keyboard.press('Tab')
        check(await this.page.evaluate(() => document.querySelector('main').contains(document.activeElement)), 'the focus is in the content')
    }

    async tokens() {
        await this.go(settings + 'tokens/')
        await this.input.fill(this.field('description'), 'Nightly backup')
        await this.press(this.button('Create token'), 422)
        await this.check_invalid('scopes')
        await this.inspector.inspect('tokens_wrong')
        await this.input.press(this.page.locator('[value="user:balance"]'))
        await this.press(this.button('Create token'))
        await this.inspector.inspect('token_created')
        const [username, secret] = await this.page.locator('textarea.copied').evaluateAll((all) => all.map((each) => each.value))
        const token = 'Basic ' + Buffer.from(`${username}:${secret}`).toString('base64')
        check((await this.status_of(token)) === 200, 'the token is valid')
        await this.check_copied(this.page.locator('textarea.copied').last(), secret)
        await this.press(this.page.getByRole('main').getByRole('link'))
        check(!(await this.page.content()).includes(secret), 'the secret was shown once')
        await this.page.reload()
        check(!(await this.page.content()).includes(secret), 'the secret was shown once')
        const revoke = await this.confirmation(this.row(username), 'Revoke')
        await this.inspector.inspect('tokens_revoke')
        await this.press(revoke)
        await this.inspector.inspect('tokens_revoked')
        check((await this.status_of(token)) === 401, 'the token is revoked')
    }

    /// The whole secret can be selected, and with scripts a button copies it.
    async check_copied(field, value) {
        await this.input.select(field)
        const selected = await field.evaluate((element) => element.value.slice(element.selectionStart, element.selectionEnd))
        check(selected === value, `the whole secret is selected, not "${selected}"`)
        const { cut, hidden } = await field.evaluate((element) => ({
            cut: element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight + 1,
            hidden: element.nextElementSibling.hidden,
        }))
        check(!cut, 'the whole secret is visible')
        check(hidden === !this.config.scripts, 'a copy button, with scripts only')
        if (!this.config.scripts) return
        await this.input.press(this.page.locator('[data-copies]').last())
        await this.page.locator('[data-copies]').last().getByText('Copied').waitFor()
        check((await this.page.evaluate(() => navigator.clipboard.readText())) === value, 'the secret was copied')
    }

    async applications() {
        await this.go(settings + 'applications/')
        await this.inspector.inspect('applications')
        await this.input.fill(this.field('name'), 'Monthly reports')
        await this.input.fill(this.field('website'), 'ftp://reports.example')
        await this.press(this.button('Register application'), 422)
        await this.check_invalid('website')
        await this.inspector.inspect('applications_wrong')
        await this.input.fill(this.field('website'), this.redirect.origin)
        await this.input.fill(this.field('description'), 'Sums up what your accounts did.')
        await this.input.fill(this.field('redirect_url'), this.redirect.url)
        await this.press(this.button('Register application'))
        await this.inspector.inspect('application_created')
        this.client = { id: await this.value('client-id'), secret: await this.value('client-secret'), redirect: this.redirect.url }
        await this.press(this.page.getByRole('main').getByRole('link'))
        check(!(await this.page.content()).includes(this.client.secret), 'the secret was shown once')
        const renew = await this.confirmation(this.row('Monthly reports'), 'New secret')
        await this.inspector.inspect('applications_new_secret')
        await this.press(renew)
        const before = this.client.secret
        this.client.secret = await this.value('client-secret')
        check(before !== this.client.secret, 'a new secret')
        await this.inspector.inspect('application_renewed')
    }

    /// Presses a button of the consent page. Returns the parameters of the redirect.
    async decide(name) {
        await this.press(this.button(name))
        check(this.page.url().startsWith(this.redirect.url), `a redirect to the application, not to ${this.page.url()}`)
        return Object.fromEntries(new URL(this.page.url()).searchParams)
    }

    async consent() {
        await this.go(this.authorization_path(this.client, 'user:balance,sitesmaker:read'))
        await this.check_text('Monthly reports', 'View your balance', 'user:balance', 'sitesmaker:read', this.redirect.origin)
        check((await this.page.locator('body').innerText()).includes(this.config.login), 'the login of the user')
        await this.inspector.inspect('consent')
        const refused = await this.decide('Cancel')
        check(refused.error === 'access_denied' && refused.state === 'st&te' && !refused.code, JSON.stringify(refused))

        // "Not you?" signs out. After the next sign-in the same request continues.
        await this.go(this.authorization_path(this.client, 'user:balance,sitesmaker:read'))
        await this.press(this.button('Not you?'))
        check(new URL(this.page.url()).pathname === '/en/user/sign_in/', 'signed out')
        await this.sign_in(this.config.login, this.config.password)
        await this.check_text('View your balance', 'Either way, you will be returned to')
        const form = await this.page.locator('[name="decision"][value="allow"]').evaluate((button) => [...new FormData(button.form, button)])
        const allowed = await this.decide('Authorize Monthly reports')
        check(allowed.state === 'st&te' && allowed.iss === this.config.auth, JSON.stringify(allowed))
        const tokens = await this.post('/user/oauth_token/', {
            client_id: this.client.id, client_secret: this.client.secret, grant_type: 'authorization_code', code: allowed.code,
        })
        check(tokens.status === 200 && tokens.scope === 'user:balance sitesmaker:read', JSON.stringify(tokens))
        this.bearer = `Bearer ${tokens.access_token}`
        check((await this.status_of(this.bearer)) === 200, 'the access token is valid')

        // The form is submitted a second time.
        await this.go(settings + 'authorizations/')
        await this.navigate(() => this.page.evaluate((pairs) => {
            const copy = Object.assign(document.createElement('form'), { method: 'post', action: '/en/user/oauth/' })
            for (const [name, value] of pairs) copy.append(Object.assign(document.createElement('input'), { name, value }))
            document.body.append(copy)
            copy.submit()
        }, form), 409)
        await this.inspector.inspect('consent_repeated')
        await this.go(this.authorization_path(this.client, 'user:balance'))
        check(this.page.url().startsWith(this.redirect.url + '?code='), 'no consent page for scopes that were granted before')
        await this.go(this.authorization_path(this.client, 'itemplatform,sitesmaker,user:balance'))
        await this.inspector.inspect('consent_more')
        await this.go(this.authorization_path({ ...this.client, id: 'nobody' }, 'user:balance'), 400)
        await this.inspector.inspect('consent_unknown')
        await this.go(this.authorization_path({ ...this.client, redirect: 'https://elsewhere.example/' }, 'user:balance'), 400)
        await this.inspector.inspect('consent_redirect')
        await this.go(this.authorization_path(this.config.long, 'user:balance,sitesmaker:read,itemplatform:read,sitesmaker,itemplatform'))
        await this.inspector.inspect('consent_long')
    }

    async authorizations() {
        await this.go(settings + 'authorizations/')
        const revoke = await this.confirmation(this.row('Monthly reports'), 'Revoke')
        await this.inspector.inspect('authorizations')
        await this.press(revoke)
        await this.inspector.inspect('authorizations_revoked')
        check((await this.status_of(this.bearer)) === 401, 'the access token is revoked')
        await this.go(this.authorization_path(this.client, 'user:balance'))
        check(await this.button('Authorize Monthly reports').isVisible(), 'the consent page')
    }

    async webhooks() {
        await this.go(settings + 'webhooks/')
        await this.inspector.inspect('webhooks')
        await this.input.choose(this.field('account'), this.config.account_name)
        await this.press(this.button('Continue'))
        await this.inspector.inspect('webhooks_event')
        await this.input.choose(this.field('event'), 'site.published')
        await this.input.fill(this.field('target_url'), 'http://127.0.0.1/hook')
        await this.press(this.button('Create webhook'), 422)
        await this.check_invalid('target_url')
        await this.inspector.inspect('webhooks_wrong')
        await this.input.fill(this.field('target_url'), 'https://example.com/hook')
        await this.press(this.button('Create webhook'))
        await this.inspector.inspect('webhook_created')
        const secret = await this.value('secret')
        check(secret.startsWith('whsec_'), secret)
        const hooks = await this.hooks()
        check(hooks.length === 1 && hooks[0].source === 'manual' && hooks[0].event === 'site.published', JSON.stringify(hooks))

        await this.press(this.page.getByRole('main').getByRole('link'))
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'Edit' }))
        await this.input.fill(this.field('target_url'), 'http://127.0.0.1/hook')
        await this.press(this.button('Save changes'), 422)
        await this.check_invalid('target_url')
        await this.inspector.inspect('webhook_edit_wrong')
        await this.input.fill(this.field('target_url'), 'https://example.com/hook')
        await this.press(this.button('Save changes'))
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'Deliveries' }))
        await this.press(this.button('Send test event'))
        await this.check_text('A ping test event')
        await this.inspector.inspect('deliveries_tested')
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'Attempts' }))
        await this.inspector.inspect('delivery')
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'All deliveries' }))
        await this.press(this.button('Resend all failed deliveries'))
        await this.check_text('No failed deliveries are left')
        await this.press(this.page.getByRole('main').getByRole('link', { name: 'Failed', exact: true }))
        await this.inspector.inspect('deliveries_failed')
        await this.go(settings + 'webhooks/')
        const renew = await this.confirmation(this.row('example.com/hook'), 'New secret')
        await this.inspector.inspect('webhooks_new_secret')
        await this.press(renew)
        check((await this.value('secret')) !== secret, 'a new secret')
        await this.inspector.inspect('webhook_renewed')
        await this.press(this.page.getByRole('main').getByRole('link'))
        await this.press(await this.confirmation(this.row('example.com/hook'), 'Delete'))
        await this.inspector.inspect('webhooks_deleted')
        check((await this.hooks()).length === 0, 'the webhook was deleted')
    }

    async hooks() {
        const response = await fetch(`${this.config.api}/sitesmaker/${this.config.account}/hooks`, { headers: { Authorization: this.config.token } })
        return response.json()
    }

    async deleting_the_application() {
        await this.go(settings + 'applications/')
        const remove = await this.confirmation(this.row('Monthly reports'), 'Delete')
        await this.input.fill(this.row('Monthly reports').locator('[name="confirm_name"]'), 'Monthly')
        await this.press(remove, 422)
        await this.check_invalid('confirm_name')
        await this.inspector.inspect('application_delete_wrong')
        await this.input.fill(this.row('Monthly reports').locator('[name="confirm_name"]'), 'Monthly reports')
        await this.press(this.button('Delete this application'))
        await this.check_text('was deleted')
        await this.go(this.authorization_path(this.client, 'user:balance'), 400)
    }

    async security() {
        await this.go(settings + 'security/')
        await this.check_text('This session', 'Change password')
        await this.inspector.inspect('security')
        await this.input.fill(this.field('current_password'), 'wrong')
        await this.input.fill(this.field('new_password'), 'a longer one')
        await this.input.fill(this.field('repeated_password'), 'a longer one')
        await this.press(this.button('Change password'), 422)
        await this.check_invalid('current_password')
        check((await this.field('new_password').inputValue()) === '', 'a password is not sent back')
        await this.inspector.inspect('security_wrong')
    }

    async error_pages() {
        await this.go(settings + 'nothing/', 404)
        await this.inspector.inspect('not_found')
        await this.go('/docs/')
        await this.inspector.inspect('docs')
        await this.go('/docs/webhooks/')
        await this.inspector.inspect('docs_webhooks')
        await this.go(settings + 'tokens/')
        await this.page.locator('main form [name="form_token"]').last().evaluate((field) => { field.value = 'x' })
        await this.input.fill(this.field('description'), 'forged')
        await this.press(this.button('Create token'), 403)
        await this.inspector.inspect('forbidden')
    }

    async signing_out() {
        await this.go('/en/user/sign_out/')
        await this.inspector.inspect('sign_out')
        await this.go(settings + 'authorizations/')
        await this.press(this.page.locator('header button'))
        await this.check_text('You are signed out')
        await this.inspector.inspect('signed_out')
        await this.page.goBack()
        check(new URL(this.page.url()).pathname === '/en/user/sign_in/', 'the previous page is not shown again')
    }

    async consent_after_sign_in() {
        await this.go(this.authorization_path(this.client, 'user:balance,itemplatform:read'))
        await this.sign_in(this.config.login, this.config.password)
        check('code' in (await this.decide('Authorize Monthly reports')), 'a code')
        await this.go('/en/user/sign_out/')
        await this.press(this.button('Sign out'))
    }

    async sign_in_and_consent_on_one_page() {
        const address = this.authorization_path(this.client, 'itemplatform:read', { path: '/en/itemplatform/oauth/' })
        await this.go(address)
        await this.inspector.inspect('one_page')
        await this.input.fill(this.field('login'), this.config.login)
        await this.input.fill(this.field('password'), 'wrong')
        await this.press(this.button('Authorize Monthly reports'), 422)
        await this.check_invalid('password')
        await this.inspector.inspect('one_page_wrong')
        check((await this.decide('Cancel')).error === 'access_denied', 'Cancel needs no sign-in')

        await this.go(address)
        await this.input.fill(this.field('login'), this.config.login)
        await this.input.fill(this.field('password'), this.config.password)
        check('code' in (await this.decide('Authorize Monthly reports')), 'a code')
        await this.go(address)
        check((await this.field('password').count()) === 0, 'a signed-in user needs no password')
        await this.inspector.inspect('one_page_signed_in')
        check('code' in (await this.decide('Authorize Monthly reports')), 'a code')
    }

    /// A device that starts a request. The user types its code, or opens the link that has it.
    async device() {
        const client = { client_id: this.client.id, client_secret: this.client.secret }
        const start = () => this.post('/user/oauth_device/', { ...client, scope: 'user:balance,sitesmaker:read' })
        const poll = (codes) => this.post('/user/oauth_token/', {
            ...client, grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: codes.device_code,
        })
        const allowed = await start()
        const denied = await start()
        await this.go(new URL(allowed.verification_uri).pathname)
        await this.inspector.inspect('device')
        await this.input.fill(this.field('user_code'), 'nonsense')
        await this.press(this.button('Continue'), 422)
        await this.check_invalid('user_code')
        await this.inspector.inspect('device_wrong')
        await this.input.fill(this.field('user_code'), allowed.user_code)
        await this.navigate(() => this.input.submit(this.field('user_code')))
        await this.check_text('Monthly reports', 'View your balance', 'sitesmaker:read', allowed.user_code, '127.0.0.1', this.config.login)
        await this.inspector.inspect('device_request')
        await this.press(this.button('Authorize Monthly reports'))
        await this.check_text('Device authorized')
        await this.inspector.inspect('device_allowed')
        const tokens = await poll(allowed)
        check(tokens.status === 200 && (await this.status_of(`Bearer ${tokens.access_token}`)) === 200, JSON.stringify(tokens))

        await this.go(denied.verification_uri_complete)
        check((await this.field('user_code').inputValue()) === denied.user_code, 'the code of the link')
        await this.press(this.button('Continue'))
        await this.press(this.button('Cancel'))
        await this.check_text('Access denied')
        await this.inspector.inspect('device_denied')
        check((await poll(denied)).error === 'access_denied', 'the device is told')
    }

    async run() {
        await this.signing_in()
        await this.skip_link()
        await this.tokens()
        await this.applications()
        await this.consent()
        await this.device()
        await this.authorizations()
        await this.webhooks()
        await this.security()
        await this.error_pages()
        await this.signing_out()
        await this.consent_after_sign_in()
        await this.sign_in_and_consent_on_one_page()
        await this.deleting_the_application()
    }
}
