//! Source that decides who is let in.

use crate::edits::{Base, Honest, Weakened};

const PYTHON: Base = Base {
    path: "src/shop/views.py",
    text: r#"import jwt
import requests
from fastapi import APIRouter, Depends

router = APIRouter(prefix="/shop")
CORS_ALLOW_ALL_ORIGINS = False


@login_required
def orders(request):
    return Order.of(request)


@permission_required("shop.delete")
def delete(request, key):
    return Order.delete(key)


@router.get("/me")
def me(user: User = Depends(get_current_user)):
    return 1


class Orders(APIView):
    permission_classes = [IsAuthenticated]


def read(token, key):
    return jwt.decode(token, key, algorithms=["RS256"], options={"verify_signature": True})


def fetch(url):
    return requests.get(url, timeout=3)


app.add_middleware(CORSMiddleware, allow_origins=["https://shop.example"])
"#,
};

const OPENED: [Weakened; 11] = [
    ("a login goes", "@login_required\n", "", "authentication-changed @login_required"),
    (
        "a permission goes",
        "@permission_required(\"shop.delete\")\n",
        "",
        "authentication-changed @permission_required",
    ),
    (
        "a permission becomes a login",
        "@permission_required(\"shop.delete\")\n",
        "@login_required\n",
        "authentication-changed @permission_required",
    ),
    (
        "a dependency goes",
        "user: User = Depends(get_current_user)",
        "",
        "authentication-changed get_current_user",
    ),
    ("everybody may", "[IsAuthenticated]", "[AllowAny]", "authentication-changed AllowAny"),
    ("nothing is asked", "[IsAuthenticated]", "[]", "authentication-changed permission_classes"),
    (
        "a signature is not verified",
        "\"verify_signature\": True",
        "\"verify_signature\": False",
        "authentication-changed verify_signature",
    ),
    ("any algorithm", "[\"RS256\"]", "[\"RS256\", \"none\"]", "authentication-changed none"),
    (
        "a certificate is not verified",
        "timeout=3",
        "timeout=3, verify=False",
        "authentication-changed verify",
    ),
    ("any origin", "\"https://shop.example\"", "\"*\"", "authentication-changed allow_origins"),
    ("any origin by a setting", "ORIGINS = False", "ORIGINS = True", "authentication-changed CORS"),
];

const HONEST: [Honest; 8] = [
    ("another login", "@login_required\n", "@jwt_required()\n"),
    ("a stricter permission", "@login_required\n", "@permission_required(\"shop.see\")\n"),
    ("a function goes whole", "@login_required\ndef orders(request):\n    return Order.of(request)\n", ""),
    ("a stricter class", "[IsAuthenticated]", "[IsAdminUser]"),
    ("another algorithm", "[\"RS256\"]", "[\"ES256\"]"),
    ("a certificate of one's own", "timeout=3", "timeout=3, verify=\"ca.pem\""),
    ("another origin", "https://shop.example", "https://shop.test"),
    ("another decorator", "@login_required\n", "@cached\n@login_required\n"),
];

#[test]
fn python_that_lets_more_in_is_told() {
    assert_eq!(PYTHON.untold(&OPENED), Vec::<String>::new());
    assert_eq!(PYTHON.wrong(&HONEST), Vec::<String>::new());
}

#[test]
fn a_login_may_be_asked_of_a_whole_router() {
    let after = PYTHON
        .text
        .replace("prefix=\"/shop\"", "prefix=\"/shop\", dependencies=[Depends(get_current_user)]")
        .replace("user: User = Depends(get_current_user)", "");
    assert_eq!(crate::told(PYTHON.path, PYTHON.text, &after), Vec::<String>::new());
    let nowhere = PYTHON.text.replace("user: User = Depends(get_current_user)", "");
    assert_eq!(crate::told(PYTHON.path, &after, &nowhere).len(), 1);
}

const EXPRESS: Base = Base {
    path: "src/server.js",
    text: r#"import express from 'express'
import cors from 'cors'
import jwt from 'jsonwebtoken'

const app = express()
app.use(cors({ origin: 'https://shop.example' }))

app.get('/orders', requireAuth, (req, res) => res.json(list(req.user)))
app.post('/orders', [auth.authenticate('jwt'), limit()], create)
app.delete('/orders/:id', requireAuth, requireRole('admin'), remove)
router.route('/me').get(isLoggedIn, me)
app.get('/health', (req, res) => res.send('ok'))

export function read(token, key) {
  return jwt.verify(token, key, { algorithms: ['RS256'], ignoreExpiration: false })
}

export const agent = new https.Agent({ rejectUnauthorized: true })
"#,
};

const EXPRESS_OPENED: [Weakened; 10] = [
    ("a guard goes", "'/orders', requireAuth, (req", "'/orders', (req", "authentication-changed app.get"),
    (
        "a guard in a list goes",
        "[auth.authenticate('jwt'), limit()]",
        "[limit()]",
        "authentication-changed app.post",
    ),
    ("a role goes", ", requireRole('admin')", "", "authentication-changed app.delete"),
    ("both go", "requireAuth, requireRole('admin'), ", "", "authentication-changed app.delete"),
    ("a guard of a chain goes", "get(isLoggedIn, me)", "get(me)", "authentication-changed router"),
    (
        "another function in its place",
        "'/orders', requireAuth, (req",
        "'/orders', noAuth, (req",
        "authentication-changed app.get",
    ),
    ("any algorithm", "['RS256']", "['RS256', 'none']", "authentication-changed algorithms"),
    (
        "tokens that are over",
        "ignoreExpiration: false",
        "ignoreExpiration: true",
        "authentication-changed ignoreExpiration",
    ),
    (
        "any certificate",
        "rejectUnauthorized: true",
        "rejectUnauthorized: false",
        "authentication-changed rejectUnauthorized",
    ),
    ("any origin", "'https://shop.example'", "'*'", "authentication-changed origin"),
];

const EXPRESS_HONEST: [Honest; 9] = [
    ("another login", "'/orders', requireAuth, (req", "'/orders', ensureAuthenticated, (req"),
    ("a stricter guard", "'/orders', requireAuth, (req", "'/orders', requireAdmin, (req"),
    ("a route goes whole", "app.get('/orders', requireAuth, (req, res) => res.json(list(req.user)))\n", ""),
    ("a guard more", "get(isLoggedIn, me)", "get(isLoggedIn, limit(), me)"),
    ("an open route more", "app.get('/health'", "app.get('/ready', ready)\napp.get('/health'"),
    ("another origin", "https://shop.example", "https://shop.test"),
    ("another algorithm", "['RS256']", "['ES256']"),
    ("an answer from a map", "res.send('ok')", "res.send(cache.get('isAdmin'))"),
    (
        "guards in a list",
        "requireAuth, requireRole('admin'), remove",
        "[requireAuth, requireRole('admin')], remove",
    ),
];

const NEST: Base = Base {
    path: "src/orders.controller.ts",
    text: r#"import { Controller, Delete, Get, UseGuards } from '@nestjs/common'

@Controller('orders')
export class OrdersController {
  @Get()
  @UseGuards(JwtAuthGuard)
  list() {
    return this.orders.all()
  }

  @Delete(':id')
  @UseGuards(JwtAuthGuard, RolesGuard)
  @Roles('admin')
  remove(@Param('id') id: string) {
    return this.orders.remove(id)
  }
}

@Controller('stock')
@UseGuards(JwtAuthGuard)
export class StockController {
  @Get()
  list() {
    return this.stock.all()
  }
}
"#,
};

const NEST_OPENED: [Weakened; 5] = [
    (
        "a guard of a method goes",
        "  @UseGuards(JwtAuthGuard)\n  list",
        "  list",
        "authentication-changed @UseGuards",
    ),
    (
        "a guard of a class goes",
        "@UseGuards(JwtAuthGuard)\nexport class StockController",
        "export class StockController",
        "authentication-changed @UseGuards",
    ),
    (
        "roles go",
        "  @UseGuards(JwtAuthGuard, RolesGuard)\n  @Roles('admin')\n",
        "  @UseGuards(JwtAuthGuard)\n",
        "authentication-changed @UseGuards",
    ),
    (
        "all of it goes",
        "  @UseGuards(JwtAuthGuard, RolesGuard)\n  @Roles('admin')\n",
        "",
        "authentication-changed @UseGuards",
    ),
    (
        "everybody may",
        "@Get()\n  @UseGuards",
        "@Get()\n  @Public()\n  @UseGuards",
        "authentication-changed @Public",
    ),
];

const NEST_HONEST: [Honest; 4] = [
    ("another guard", "@UseGuards(JwtAuthGuard)\n  list", "@UseGuards(SessionAuthGuard)\n  list"),
    ("a stricter guard", "@UseGuards(JwtAuthGuard)\n  list", "@UseGuards(RolesGuard)\n  list"),
    (
        "a method goes whole",
        "  @Get()\n  @UseGuards(JwtAuthGuard)\n  list() {\n    return this.orders.all()\n  }\n\n",
        "",
    ),
    ("another order", "@Get()\n  @UseGuards(JwtAuthGuard)\n", "@UseGuards(JwtAuthGuard)\n  @Get()\n"),
];

#[test]
fn javascript_that_lets_more_in_is_told() {
    assert_eq!(EXPRESS.untold(&EXPRESS_OPENED), Vec::<String>::new());
    assert_eq!(EXPRESS.wrong(&EXPRESS_HONEST), Vec::<String>::new());
    assert_eq!(NEST.untold(&NEST_OPENED), Vec::<String>::new());
    assert_eq!(NEST.wrong(&NEST_HONEST), Vec::<String>::new());
}

#[test]
fn a_login_may_be_asked_of_all_routes_or_of_a_whole_class() {
    let bare = |text: &str| text.replace("'/orders', requireAuth, (req", "'/orders', (req");
    let asked_of_all = bare(EXPRESS.text)
        .replace("const app = express()\n", "const app = express()\napp.use(requireAuth)\n");
    assert_eq!(crate::told(EXPRESS.path, EXPRESS.text, &asked_of_all), Vec::<String>::new());
    assert_eq!(crate::told(EXPRESS.path, &asked_of_all, &bare(EXPRESS.text)).len(), 1, "and it can go again");

    let of_class = NEST
        .text
        .replace("  @UseGuards(JwtAuthGuard)\n  list", "  list")
        .replace("@Controller('orders')\n", "@Controller('orders')\n@UseGuards(JwtAuthGuard)\n");
    assert_eq!(crate::told(NEST.path, NEST.text, &of_class), Vec::<String>::new());
}
