import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The frame of the suite: runs the scenarios that it is asked for and prints a line for each.
 *
 * <p>A scenario succeeds by returning, and fails by throwing or by any check that did not hold.
 */
class Frame {
    static final String DRIVER = env("DRIVER");

    private static final List<String> problems = new ArrayList<>();

    interface Work {
        void run() throws Exception;
    }

    static String env(String name) {
        return System.getenv("MILLRACE_" + name);
    }

    static void run(Map<String, Work> scenarios) {
        for (String name : env("SCENARIOS").split(",")) {
            System.out.println(DRIVER + " " + name + " run");
            problems.clear();
            try {
                scenarios.get(name).run();
            } catch (Throwable error) {
                error.printStackTrace();
                String place = "";
                for (StackTraceElement frame : error.getStackTrace()) {
                    if (frame.getClassName().startsWith("Suite")) {
                        place = "Suite.java:" + frame.getLineNumber() + ": ";
                        break;
                    }
                }
                problems.add(place + error.getClass().getSimpleName() + ": " + cut(String.valueOf(error.getMessage()), 400));
            }
            System.out.println(DRIVER + " " + name + " " + (problems.isEmpty() ? "ok" : "FAIL"));
            for (String problem : problems) {
                System.out.println("  " + problem.replace("\n", " | "));
            }
        }
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            problems.add(what);
        }
    }

    static void equal(Object got, Object want, String what) {
        if (!Objects.equals(got, want)) {
            problems.add(what + ": expected " + brief(want) + ", got " + brief(got));
        }
    }

    /** An error inside is noted as a problem, and the scenario goes on. */
    static void noting(String what, Work work) {
        try {
            work.run();
        } catch (Exception error) {
            problems.add(what + ": " + error.getClass().getSimpleName() + ": " + brief(error.getMessage()));
        }
    }

    static String brief(Object value) {
        String type = value == null ? "" : " (" + value.getClass().getSimpleName() + ")";
        return cut(String.valueOf(value), 160) + type;
    }

    private static String cut(String text, int most) {
        return text.length() <= most ? text : text.substring(0, most) + "... (" + text.length() + " characters)";
    }

    static Object json(String name) throws Exception {
        Path path = new File(env("DRIVER_TESTS"), name).toPath();
        return new Json(Files.readString(path, StandardCharsets.UTF_8)).value();
    }

    /** As much JSON as the two data files need: objects, arrays, strings and whole numbers. */
    private static final class Json {
        private final String text;
        private int at;

        Json(String text) {
            this.text = text;
        }

        Object value() {
            char c = peek();
            if (c == '{') {
                Map<String, Object> object = new LinkedHashMap<>();
                for (at++; peek() != '}'; ) {
                    String key = (String) value();
                    expect(':');
                    object.put(key, value());
                    comma('}');
                }
                at++;
                return object;
            }
            if (c == '[') {
                List<Object> array = new ArrayList<>();
                for (at++; peek() != ']'; ) {
                    array.add(value());
                    comma(']');
                }
                at++;
                return array;
            }
            return c == '"' ? string() : number();
        }

        private char peek() {
            while (Character.isWhitespace(text.charAt(at))) {
                at++;
            }
            return text.charAt(at);
        }

        private void expect(char wanted) {
            if (peek() != wanted) {
                throw new IllegalStateException("JSON: " + wanted + " at " + at);
            }
            at++;
        }

        private void comma(char end) {
            if (peek() != end) {
                expect(',');
            }
        }

        private String string() {
            StringBuilder out = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                char c = text.charAt(at);
                if (c == '\\') {
                    c = text.charAt(++at);
                    if (c == 'n') {
                        c = '\n';
                    } else if (c == 'u') {
                        c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                        at += 4;
                    }
                }
                out.append(c);
            }
            at++;
            return out.toString();
        }

        private Object number() {
            int start = at;
            while (Character.isDigit(text.charAt(at)) || text.charAt(at) == '-') {
                at++;
            }
            return Integer.valueOf(text.substring(start, at));
        }
    }
}
