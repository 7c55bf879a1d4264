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
