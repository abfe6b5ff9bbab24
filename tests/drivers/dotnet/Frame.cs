// The frame of the suite: runs the scenarios that it is asked for and prints a line for each.
//
// A scenario is a method. It succeeds by returning, and fails by throwing or by any check that did not hold.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using Newtonsoft.Json.Linq;

class Skip : Exception
{
    public Skip(string why) : base(why) { }
}

/// A value of types.json.
class Case
{
    public string Sql, Text;
}

/// A type of types.json, and its values.
class Typed
{
    public string Type, Kind;
    public List<Case> Values = new List<Case>();
}

static class Frame
{
    public static readonly string Driver = Of("MILLRACE_DRIVER");
    public static readonly string Host = Of("MILLRACE_HOST");
    public static readonly string Port = Of("MILLRACE_PORT");
    public static readonly string User = Of("MILLRACE_USER");
    public static readonly string Password = Of("MILLRACE_PASSWORD");
    public static readonly string Certificate = Of("MILLRACE_CERTIFICATE");
    public static readonly string Tests = Of("MILLRACE_DRIVER_TESTS");
    static readonly List<string> problems = new List<string>();

    static string Of(string name) => Environment.GetEnvironmentVariable(name) ?? "";

    static readonly JObject fixtures = JObject.Parse(File.ReadAllText(Path.Combine(Tests, "fixtures.json")));

    public static IEnumerable<string> Fixture(string name) => fixtures[name].Select(sql => (string)sql);

    /// The cases of types.json.
    public static readonly List<Typed> Types = ReadTypes();

    static List<Typed> ReadTypes()
    {
        var types = new List<Typed>();
        // Texts that look like dates stay texts.
        var reader = new Newtonsoft.Json.JsonTextReader(File.OpenText(Path.Combine(Tests, "types.json")))
        {
            DateParseHandling = Newtonsoft.Json.DateParseHandling.None
        };
        foreach (var entry in JArray.Load(reader))
        {
            var typed = new Typed { Type = (string)entry["type"], Kind = (string)entry["kind"] };
            foreach (var value in entry["values"])
            {
                var repeat = value["repeat"] == null ? 1 : (int)value["repeat"];
                var text = string.Concat(Enumerable.Repeat((string)value["text"], repeat));
                typed.Values.Add(new Case { Sql = (string)value["sql"], Text = text });
            }
            types.Add(typed);
        }
        return types;
    }

    public static void Check(bool holds, string what)
    {
        if (!holds) lock (problems) problems.Add(what);
    }

    public static void Equal(object got, object want, string what)
    {
        var (a, b) = (Show(got), Show(want));
        Check(a == b, $"{what}: expected {Short(b)}, got {Short(a)}");
    }

    /// An error inside is noted as a problem, and the scenario goes on.
    public static void Noting(string what, Action work)
    {
        try { work(); }
        catch (Exception error) when (!(error is Skip)) { Check(false, $"{what}: {error.GetType().Name}: {Short(error.GetBaseException().Message, 300)}"); }
    }

    /// A value as text: NULL is null, sequences are in brackets.
    public static string Show(object value)
    {
        if (value == null || value is DBNull) return "null";
        if (value is string text) return text;
        if (value is byte[] bytes) return "0x" + BitConverter.ToString(bytes).Replace("-", "");
        if (value is bool b) return b ? "true" : "false";
        if (value is IFormattable one) return one.ToString(null, CultureInfo.InvariantCulture);
        if (value is IEnumerable many) return "[" + string.Join(", ", many.Cast<object>().Select(Show)) + "]";
        return value.ToString();
    }

    public static string Short(string text, int most = 160) =>
        text.Length <= most ? text : $"{text.Substring(0, most)}... ({text.Length} characters)";

    public static void Run(Dictionary<string, Action> scenarios)
    {
        var output = new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true };
        foreach (var name in Of("MILLRACE_SCENARIOS").Split(','))
        {
            output.WriteLine($"{Driver} {name} run");
            lock (problems) problems.Clear();
            string word;
            try
            {
                scenarios[name]();
                lock (problems) word = problems.Count > 0 ? "FAIL" : "ok";
            }
            catch (Skip skip) { word = $"skip({skip.Message})"; }
            catch (Exception error)
            {
                word = "FAIL";
                var line = (error.StackTrace ?? "").Split('\n').Reverse().Take(6).Select(l => l.Trim());
                Check(false, $"{error.GetType().Name}: {Short(error.Message, 400)} {string.Join(" < ", line)}");
                Console.Error.WriteLine(error);
            }
            output.WriteLine($"{Driver} {name} {word}");
            if (word != "FAIL") continue;
            lock (problems)
                foreach (var problem in problems.Take(60)) output.WriteLine("  " + problem.Replace("\r", "").Replace("\n", " | "));
        }
    }
}
