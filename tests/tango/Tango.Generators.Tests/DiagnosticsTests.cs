using Microsoft.CodeAnalysis;

namespace Tango.Generators.Tests;

/// <summary>Each rule fires on what it is about, and not on its neighbour.</summary>
public sealed class DiagnosticsTests
{
    [Theory]
    [InlineData("TANGO001", "[TangoObject(\"t\")] public sealed class A : TangoObject { }")]
    [InlineData("TANGO001",
        "public static class Outer { [TangoObject(\"t\")] public sealed partial class A : TangoObject { } }")]
    [InlineData("TANGO002", "[TangoObject(\"t\")] public sealed partial class A { }")]
    [InlineData("TANGO002", "[TangoObject(\"t\")] public abstract partial class A : TangoObject { }")]
    [InlineData("TANGO019",
        "[TangoObject(\"t\")] public sealed partial class A : TangoObject { } [TangoObject(\"t\")] public sealed "
        + "partial class B : TangoObject { }")]
    [InlineData("TANGO002", "[TangoObject(\"\")] public sealed partial class A : TangoObject { }")]
    [InlineData("TANGO002",
        "[TangoObject(\"t\")] public sealed partial class A(int x) : TangoObject { public int X => x; }")]
    public async Task Classes(string id, string source) => Assert.Contains(id, await Compiler.Diagnose(source));

    [Theory]
    [InlineData("TANGO003", "[Mutator(1)] public partial Task AAsync(); private void ApplyA() { }")]
    [InlineData("TANGO003", "[Mutator(1)] public ValueTask AAsync() => default; private void ApplyA() { }")]
    [InlineData("TANGO003", "[Mutator(1)] public partial ValueTask A(); private void ApplyA() { }")]
    [InlineData("TANGO003", "[Mutator(1)] public partial ValueTask AAsync(ref int x); private void ApplyA(int x) { }")]
    [InlineData("TANGO003", "[Mutator(1)] public partial ValueTask AAsync<T>(T x); private void ApplyA<T>(T x) { }")]
    [InlineData("TANGO003",
        "[Mutator(1)] public partial ValueTask AAsync(CancellationToken ct, int x); private void ApplyA(int x) { }")]
    [InlineData("TANGO003", "[Accessor] public partial ValueTask AAsync(); private void ReadA() { }")]
    [InlineData("TANGO004", "[Mutator(1)] public partial ValueTask AAsync(int x);")]
    [InlineData("TANGO004", "[Mutator(1)] public partial ValueTask AAsync(int x); private void ApplyA(long x) { }")]
    [InlineData("TANGO004", "[Mutator(1)] public partial ValueTask<int> AAsync(); private void ApplyA() { }")]
    [InlineData("TANGO004", "[Accessor] public partial ValueTask<int> AAsync(); private long ReadA() => 1;")]
    [InlineData("TANGO005", "[Mutator(0)] public partial ValueTask AAsync(); private void ApplyA() { }")]
    [InlineData("TANGO006",
        "[Mutator(1)] public partial ValueTask AAsync(); private void ApplyA() { } [Mutator(1)] public partial "
        + "ValueTask BAsync(); private void ApplyB() { }")]
    [InlineData("TANGO007",
        "[Mutator(1)] public partial ValueTask AAsync(object x); private void ApplyA(object x) { }")]
    [InlineData("TANGO007",
        "[Mutator(1)] public partial ValueTask AAsync(List<Action> x); private void ApplyA(List<Action> x) { }")]
    [InlineData("TANGO007",
        "[Mutator(1)] public partial ValueTask AAsync(int[,] x); private void ApplyA(int[,] x) { }")]
    [InlineData("TANGO008", "[Mutator(1)] public partial ValueTask AAsync(Uri x); private void ApplyA(Uri x) { }")]
    [InlineData("TANGO013",
        "[Mutator(1)] public partial ValueTask AAsync([VersionKey] decimal x); private void ApplyA(decimal x) { }")]
    [InlineData("TANGO013",
        "[Accessor] public partial ValueTask<int> AAsync([VersionKey] (int, double) x); private int ReadA((int, "
        + "double) x) => 0;")]
    [InlineData("TANGO013",
        "[Accessor] public partial ValueTask<int> AAsync([VersionKey] byte[] x); private int ReadA(byte[] x) => 0;")]
    public async Task Operations(string id, string members) =>
        Assert.Equal([id], await Compiler.Diagnose(Sources.Object(members)));

    /// <summary>An analyzer would not be asked: the compiler stops at partial methods without bodies. And its own error
    /// about them, which names no cause, would stand beside.</summary>
    [Theory]
    [InlineData("TANGO002", "[TangoObject(\"t\")] public sealed partial class Subject { "
        + "[Mutator(1)] public partial ValueTask AAsync(int x); private void ApplyA(int x) { } }")]
    [InlineData("TANGO003", "[Mutator(1)] public partial Task AAsync(); private void ApplyA() { }")]
    [InlineData("TANGO003", "[Mutator(1)] public partial ValueTask A(string? x = null); private void ApplyA() { }")]
    [InlineData("TANGO003", "[Mutator(1)] internal static partial ValueTask AAsync(out int @in);")]
    [InlineData("TANGO003", "[Accessor] public partial ref readonly int AAsync<T>(in T x) where T : struct;")]
    [InlineData("TANGO004", "[Mutator(1)] public partial ValueTask<int[]?> AAsync(ImmutableArray<string> x);")]
    [InlineData("TANGO004", "[Mutator(1)] public partial ValueTask AAsync(); private async Task ApplyA() { "
        + "await Task.Yield(); }")]
    [InlineData("TANGO005", "[Mutator(-1)] public partial ValueTask AAsync(); private void ApplyA() { }")]
    [InlineData("TANGO006",
        "[Mutator(1)] public partial ValueTask AAsync(); private void ApplyA() { } [Mutator(1)] public partial "
        + "ValueTask<int> BAsync(CancellationToken token = default); private int ApplyB() => 1;")]
    public void Build_reports_exactly_the_problem_of_the_object(string id, string source)
    {
        bool isClass = source.Contains("class", StringComparison.Ordinal);
        Compiler.Driver().RunGeneratorsAndUpdateCompilation(
            Compiler.Compile(isClass ? source : Sources.Object(source)), out Compilation updated,
            out var reported);
        Diagnostic found = Assert.Single(reported);
        Assert.Equal(id, found.Id);
        Assert.Equal("Snippet.cs", found.Location.GetLineSpan().Path);
        Assert.Empty(updated.GetDiagnostics().Where(d => d.Severity == DiagnosticSeverity.Error));
    }

    [Theory]
    [InlineData("TANGO009", "private List<int> _x = [];")]
    [InlineData("TANGO009", "private int[] _x = [];")]
    [InlineData("TANGO009", "private readonly Dictionary<int, int> _x = [];")]
    [InlineData("TANGO009", "private ImmutableDictionary<int, byte[]> _x = ImmutableDictionary<int, byte[]>.Empty;")]
    [InlineData("TANGO009", "private (int, List<int>) _x;")]
    [InlineData("TANGO009", "public HashSet<int> X { get; private set; } = [];")]
    [InlineData("TANGO009",
        "private Holder? _x; [MessagePackObject] public sealed class Holder { [Key(0)] public int A { get; set; } }")]
    [InlineData("TANGO009",
        "private Holder _x; [MessagePackObject] public record struct Holder([property: Key(0)] "
        + "ImmutableArray<int[]> A);")]
    [InlineData("TANGO010", "private static int s_x; private int Use() => s_x;")]
    [InlineData("TANGO007", "private Action? _x;")]
    [InlineData("TANGO017", "private ImmutableSortedSet<string> _x = ImmutableSortedSet<string>.Empty;")]
    [InlineData("TANGO011", "private DateTime _x = DateTime.UtcNow;")]
    [InlineData("TANGO011", "private Guid _x; public Subject() { _x = Guid.NewGuid(); }")]
    public async Task State(string id, string members)
    {
        string[] found = await Compiler.Diagnose(Sources.Object(members));
        Assert.Contains(id, found);
        Assert.Single(found.Distinct());
    }

    [Theory]
    [InlineData("private int _a; private readonly int _b = 5; private const int C = 1; private static readonly int[] "
        + "D = [1]; private int Use() => _b + C + D[0];")]
    [InlineData("private ImmutableSortedSet<string> _x = "
        + "ImmutableSortedSet<string>.Empty.WithComparer(TangoOrder<string>.Comparer);")]
    [InlineData("private ImmutableDictionary<int, ImmutableArray<byte>> _x = ImmutableDictionary<int, "
        + "ImmutableArray<byte>>.Empty;")]
    [InlineData("private (int, string)? _x; private DayOfWeek _d; private decimal _m;")]
    [InlineData("private Holder _x; [MessagePackObject] public record struct Holder([property: Key(0)] int A, "
        + "[property: Key(1)] Deep? B); [MessagePackObject] public sealed record Deep([property: Key(0)] "
        + "ImmutableList<Deep> C);")]
    [InlineData("[Mutator(1)] public partial ValueTask AAsync(List<int[]> x, CancellationToken ct = default); "
        + "private void ApplyA(List<int[]> x) { }")]
    [InlineData("[Accessor] public partial ValueTask<Uri> AAsync(object anything); private Uri ReadA(object "
        + "anything) => new(\"x:y\");")]
    public async Task Fine(string members) => Assert.Empty(await Compiler.Diagnose(Sources.Object(members)));

    [Theory]
    [InlineData("_x = DateTime.Now.Ticks;")]
    [InlineData("_x = DateTimeOffset.UtcNow.Ticks;")]
    [InlineData("_x = new Random(1).Next();")]
    [InlineData("_x = Random.Shared.Next();")]
    [InlineData("_x = Environment.TickCount64;")]
    [InlineData("_x = System.Diagnostics.Stopwatch.GetTimestamp();")]
    [InlineData("_x = System.IO.File.ReadAllText(\"f\").Length;")]
    [InlineData("Console.WriteLine(1);")]
    [InlineData("Thread.Sleep(1);")]
    [InlineData("Task.Run(() => { });")]
    [InlineData("_x = Interlocked.Increment(ref _x);")]
    [InlineData("_x = \"a\".GetHashCode();")]
    [InlineData("_x = new object().GetHashCode();")]
    [InlineData("_x = HashCode.Combine(1, 2);")]
    [InlineData("_x = \"a\".CompareTo(\"b\");")]
    [InlineData("_x = string.Compare(\"a\", \"b\");")]
    [InlineData("_x = \"a\".ToUpper().Length;")]
    [InlineData("_x = \"a\".StartsWith(\"b\") ? 1 : 0;")]
    [InlineData("_x = \"a\".IndexOf(\"b\");")]
    [InlineData("_x = 1.5.ToString().Length;")]
    [InlineData("_x = (long)decimal.Parse(\"1.5\");")]
    [InlineData("Func<long> f = () => DateTime.UtcNow.Ticks; _x = f();")]
    [InlineData("long Local() => DateTime.UtcNow.Ticks; _x = Local();")]
    [InlineData("Func<Guid> f = Guid.NewGuid; _x = f().Version;")]
    [InlineData("_x = Helper();")]
    [InlineData("_x = Indirect;")]
    public async Task Not_deterministic(string statement) =>
        Assert.Contains("TANGO011", await Compiler.Diagnose(InApply(statement)));

    [Theory]
    [InlineData("foreach (var p in _map) _x += p.Key;")]
    [InlineData("foreach (var v in _map.Values) _x = v;")]
    [InlineData("foreach (int i in new HashSet<int> { 1, 2 }) _x = i;")]
    [InlineData("_x = _set.First();")]
    [InlineData("_x = _map.Select(p => p.Key).First();")]
    [InlineData("_x = _map.Where(p => p.Key > 0).ToList()[0].Key;")]
    [InlineData("_x = _map.Keys.ToArray()[0];")]
    [InlineData("int[] all = [.. _set]; _x = all[0];")]
    [InlineData("_x = (long)_set.Sum(i => (double)i);")]
    [InlineData("_x = ImmutableList<int>.Empty.AddRange(_set)[0];")]
    [InlineData("_x = new List<int>(_set)[0];")]
    [InlineData("_x = string.Join(',', _set).Length;")]
    [InlineData("_x = string.Concat(_map.Values).Length;")]
    public async Task Hash_order(string statement) =>
        Assert.Contains("TANGO012", await Compiler.Diagnose(InApply(statement)));

    [Theory]
    [InlineData("_x = _map.Count + _set.Count;")]
    [InlineData("_x = _map.TryGetValue(1, out int v) ? v : 0;")]
    [InlineData("_x = ImmutableDictionary<int, int>.Empty.GetValueOrDefault(1);")]
    [InlineData("_x = ImmutableDictionary<int, int>.Empty.GetValueOrDefault(1, 2);")]
    [InlineData("_x = _set.Max();")]
    [InlineData("_x = _map.Where(p => p.Key > 0).Count();")]
    [InlineData("foreach (int i in _set.OrderBy(i => i)) _x = i;")]
    [InlineData("foreach (int i in _map.Select(p => p.Key).Order()) _x = i;")]
    [InlineData("foreach (int i in ImmutableSortedSet.Create(1, 2)) _x = i;")]
    [InlineData("_set = [.. _set, 3];")]
    [InlineData("_x = _set.Sum();")]
    [InlineData("_set = _set.Union(new HashSet<int> { 1 });")]
    [InlineData("_x = ImmutableSortedSet<int>.Empty.Union(_set).Count;")]
    [InlineData("_x = new HashSet<int>(_set).Count;")]
    [InlineData("_x = new[] { \"a\" }.OrderBy(s => s, StringComparer.Ordinal).Count();")]
    [InlineData("_x = new[] { \"a\" }.OrderBy(s => s.Length).Count();")]
    [InlineData("_x = ImmutableSortedSet.Create<string>(StringComparer.Ordinal).Count;")]
    [InlineData("_x = \"a\".StartsWith('b') || \"a\".StartsWith(\"b\", StringComparison.Ordinal) || "
        + "\"a\".Contains(\"b\") ? 1 : 0;")]
    [InlineData("_x = (int)System.Net.HttpStatusCode.OK + System.Net.IPAddress.Loopback.GetAddressBytes()[0];")]
    [InlineData("_x = 1.5.ToString(System.Globalization.CultureInfo.InvariantCulture).Length + 5.ToString().Length;")]
    [InlineData("_x = \"a\".ToUpperInvariant().Length + string.CompareOrdinal(\"a\", \"b\");")]
    [InlineData("_x = new DateTime(2020, 1, 1).Ticks;")]
    public async Task Deterministic(string statement) => Assert.Empty(await Compiler.Diagnose(InApply(statement)));

    [Theory]
    [InlineData("_x = new[] { \"a\" }.OrderBy(s => s).First().Length;")]
    [InlineData("_x = new[] { \"a\" }.Order().First().Length;")]
    [InlineData("_x = new[] { 1 }.OrderBy(i => 1).ThenBy(i => $\"{i}\").First();")]
    [InlineData("_x = new[] { \"a\" }.Max()!.Length;")]
    [InlineData("_x = new[] { \"a\" }.ToImmutableSortedSet().Count;")]
    [InlineData("_x = new[] { 1 }.ToImmutableSortedDictionary(i => $\"{i}\", i => i).Count;")]
    [InlineData("_x = ImmutableSortedSet.Create(\"a\", \"b\").Count;")]
    [InlineData("_x = new SortedDictionary<string, int>().Count;")]
    [InlineData("var l = new List<string>(); l.Sort(); _x = l.Count;")]
    public async Task Culture_order(string statement) =>
        Assert.Equal(["TANGO017"], await Compiler.Diagnose(InApply(statement)));

    [Theory]
    [InlineData("ImmutableDictionary.Create<string, int>(StringComparer.OrdinalIgnoreCase)")]
    [InlineData("ImmutableDictionary<string, int>.Empty.WithComparers(StringComparer.InvariantCulture)")]
    [InlineData("ImmutableDictionary<string, int>.Empty.WithComparers(new Loose(), null)")]
    [InlineData("ImmutableDictionary<string, int>.Empty.WithComparers(Loose.Instance)")]
    public async Task State_that_compares_version_keys_other_than_by_bytes_is_reported(string state) =>
        Assert.Equal(["TANGO028"], await Compiler.Diagnose(Keyed("string", state)));

    [Theory]
    [InlineData("string", "ImmutableDictionary<string, int>.Empty.WithComparers(StringComparer.Ordinal)")]
    [InlineData("string", "ImmutableDictionary<string, int>.Empty.WithComparers(null, EqualityComparer<int>.Default)")]
    [InlineData("string", "ImmutableDictionary.Create<string, int>(EqualityComparer<string>.Default)")]
    [InlineData("int", "ImmutableDictionary.Create<string, int>(StringComparer.OrdinalIgnoreCase)")]
    public async Task State_that_compares_version_keys_by_bytes_is_fine(string key, string state) =>
        Assert.Empty(await Compiler.Diagnose(Keyed(key, state)));

    private static string Keyed(string key, string state) =>
        "public sealed class Loose : IEqualityComparer<string> { public static Loose Instance { get; } = new(); "
        + "public bool Equals(string? x, string? y) => true; public int GetHashCode(string s) => 0; }\n"
        + Sources.Object(
            $"private ImmutableDictionary<string, int> _x = {state};\n"
            + $"[Mutator(1)] public partial ValueTask AAsync([VersionKey] {key} key); private void ApplyA({key} key) "
            + "=> _x = _x.SetItem(\"a\", 1);");

    [Fact]
    public async Task Accessor_may_be_nondeterministic()
    {
        Assert.Empty(await Compiler.Diagnose(Sources.Object(
            """
            private ImmutableHashSet<int> _set = [];
            [Accessor] public partial ValueTask<long> AAsync();
            private long ReadA() { foreach (int i in _set) return i; return DateTime.UtcNow.Ticks; }
            """)));
    }

    [Theory]
    [InlineData("[Mutator(1)] public partial ValueTask AAsync(); private void ApplyA() => throw Reject(\"no\");",
        "TANGO014")]
    [InlineData("[Mutator(1)] public partial ValueTask AAsync(); private void ApplyA() => Check(); private void "
        + "Check() { throw Reject(\"no\"); }", "TANGO014")]
    [InlineData("[Mutator(1, MayReject = true)] public partial ValueTask AAsync(); private void ApplyA() => throw "
        + "Reject(\"no\");", null)]
    [InlineData("[Mutator(1)] public partial ValueTask<int> AAsync(); private int ApplyA() => throw Reject(\"no\");",
        null)]
    [InlineData("private int _x; [Mutator(1)] public partial ValueTask<int> AAsync(); private int ApplyA() { _x++; "
        + "if (_x > 3) throw Reject(\"no\"); return 1; }", "TANGO018")]
    [InlineData("private int _x; [Mutator(1)] public partial ValueTask<int> AAsync(); private int ApplyA() { while "
        + "(true) { if (_x > 3) throw Reject(\"no\"); _x = 1; } }", "TANGO018")]
    [InlineData("private int _x; [Mutator(1)] public partial ValueTask<int> AAsync(); private int ApplyA() { (_x, _) "
        + "= (1, 2); throw Reject(\"no\"); }", "TANGO018")]
    [InlineData("private int _x; [Mutator(1)] public partial ValueTask<int> AAsync(); private int ApplyA() { if (_x "
        + "> 3) { _x = 0; return 1; } throw Reject(\"no\"); }", null)]
    [InlineData("private int _x; [Mutator(1)] public partial ValueTask<int> AAsync(); private int ApplyA() => _x = "
        + "_x > 3 ? throw Reject(\"no\") : 4;", null)]
    [InlineData("private int _x; public int X => _x;", "TANGO015")]
    [InlineData("private int _x; public int Get() => _x;", "TANGO015")]
    [InlineData("private int _x; internal void Set(int x) { _x = x; }", "TANGO015")]
    [InlineData("private int _x; [Accessor] public partial ValueTask<int> AAsync(); private int ReadA() => _x++;",
        "TANGO016")]
    [InlineData("private int _x; [Accessor] public partial ValueTask<int> AAsync(); private int ReadA() { (_x, _) = "
        + "(1, 2); return 0; }", "TANGO016")]
    [InlineData("private int _x; [Accessor] public partial ValueTask<int> AAsync(); private int ReadA() => Half(); "
        + "private int Half() => _x / 2;", null)]
    public async Task Rejections_and_state(string members, string? id) =>
        Assert.Equal(id is null ? [] : [id], await Compiler.Diagnose(Sources.Object(members)));

    [Theory]
    [InlineData("TANGO020", "[MessagePackObject] public abstract record A([property: Key(0)] int X);")]
    [InlineData("TANGO020",
        "public static class O { [MessagePackObject] private sealed record A([property: Key(0)] int X); }")]
    [InlineData("TANGO020",
        "[MessagePackObject] public sealed class A { public A(string other) { } [Key(0)] public int X { get; } }")]
    [InlineData("TANGO020",
        "[MessagePackObject] public sealed class A { [Key(0)] private int _x; public A(int x) => _x = x; public int "
        + "X => _x; }")]
    [InlineData("TANGO021",
        "[MessagePackObject] public sealed record A([property: Key(0)] int X, [property: Key(0)] int Y);")]
    [InlineData("TANGO020", "[MessagePackObject] public sealed record A([property: Key(-1)] int X);")]
    [InlineData("TANGO020", "[MessagePackObject] public sealed record A([property: Key(1000)] int X);")]
    [InlineData("TANGO023",
        "[MessagePackObject] public sealed record A([property: Key(0)] int X) { public int Y { get; init; } }")]
    [InlineData("TANGO026", "[MessagePackObject(keyAsPropertyName: true)] public sealed record A(int X);")]
    [InlineData("TANGO026", "[MessagePackObject] public sealed record A([property: Key(\"x\")] int X);")]
    [InlineData("TANGO026",
        "[MessagePackObject] public sealed record A([property: Key(0)] int X) : "
        + "IMessagePackSerializationCallbackReceiver { public void OnBeforeSerialize() { } "
        + "public void OnAfterDeserialize() { } }")]
    [InlineData("TANGO007", "[MessagePackObject] public sealed record A([property: Key(0)] object X);")]
    [InlineData("TANGO007", "[MessagePackObject] public sealed record A([property: Key(0)] Action X);")]
    [InlineData("TANGO008", "[MessagePackObject] public sealed record A([property: Key(0)] ImmutableList<Version> X);")]
    public async Task Values(string id, string source) => Assert.Equal([id], await Compiler.Diagnose(source));

    [Fact]
    public async Task Message_has_the_missing_declaration()
    {
        var found =
            await Compiler.Analyze(
                Sources.Object("[Mutator(1)] public partial ValueTask<int> AAsync(string? x, CancellationToken ct);"));
        Diagnostic diagnostic = Assert.Single(found);
        Assert.Equal("'AAsync' needs 'private int ApplyA(string? x)'",
            diagnostic.GetMessage(System.Globalization.CultureInfo.InvariantCulture));
        Assert.NotEmpty(diagnostic.Descriptor.HelpLinkUri);
        Assert.NotEmpty(diagnostic.Descriptor.Description.ToString(System.Globalization.CultureInfo.InvariantCulture));
    }

    [Theory]
    [InlineData("TANGO024", "if (count > _free) throw Reject(\"few\"); _free -= count; return true;")]
    [InlineData("TANGO024", "if (_map.Count > 3) return false; _map = _map.Add(key, count); return true;")]
    [InlineData("TANGO024", "return _map.ContainsKey(0);")]
    [InlineData("TANGO024", "return Enough(count);")]
    [InlineData("TANGO024", "foreach (var pair in _sorted) if (pair.Value == count) return false; return true;")]
    [InlineData("TANGO024", "return _map.ContainsKey(key) && _free switch { 0 => false, _ => true };")]
    [InlineData(null, "if (!_map.TryGetValue(key, out _)) return false; _free += count; return true;")]
    [InlineData(null, "if (_map.ContainsKey(key)) throw Reject(\"there\"); _map = _map.Add(key, count); return true;")]
    [InlineData(null, "var before = _map; _map = before.Remove(key); return !ReferenceEquals(before, _map);")]
    [InlineData(null, "var had = Has(key); _total = _total + _free; return had;")]
    [InlineData(null, "return _sorted[key] == count;")]
    [InlineData(null, "return _sorted.GetValueOrDefault(key, 7) == count;")]
    [InlineData("TANGO024", "return _map.Any(pair => pair.Value == count);")]
    public async Task Keyed_mutator_that_depends_on_more_than_the_key_is_reported(string? id, string body)
    {
        string[] expected = id is null ? [] : [id];
        Assert.Equal(expected, await Compiler.Diagnose(Sources.Object(
            $$"""
            private int _free;
            private int _total;
            private ImmutableDictionary<long, int> _map = ImmutableDictionary<long, int>.Empty;
            private ImmutableSortedDictionary<long, int> _sorted = ImmutableSortedDictionary<long, int>.Empty;
            [Mutator(1, MayReject = true)] public partial ValueTask<bool> AAsync([VersionKey] long key, int count);
            private bool ApplyA(long key, int count) { {{body}} }
            private bool Has(long key) => _map.ContainsKey(key);
            private bool Enough(int count) => _free >= count;
            [Mutator(2)] public partial ValueTask BlindAsync([VersionKey] long key);
            private void ApplyBlind(long key) { if (_free > 0) _map = _map.Remove(key); }
            [Accessor] public partial ValueTask<int> WholeAsync();
            private int ReadWhole() => _free + _total + _map.Count;
            """)));
    }

    [Fact]
    public async Task Keyed_accessor_that_depends_on_more_than_the_key_is_reported() =>
        Assert.Equal(["TANGO024"], await Compiler.Diagnose(Sources.Object(
            """
            private int _free;
            [Accessor] public partial ValueTask<int> FreeAsync([VersionKey] long key);
            private int ReadFree(long key) => _free;
            """)));

    [Theory]
    [InlineData("TANGO025", "runtime.OpenAsync<Box<List<int>>>(\"a\")")]
    [InlineData("TANGO025", "runtime.OpenRemoteAsync<Box<List<int>>>(\"a\")")]
    [InlineData("TANGO008", "runtime.OpenAsync<Box<Uri>>(\"a\")")]
    [InlineData("TANGO008", "runtime.OpenGroupAsync(\"g\", g => g.Add<Box<ImmutableList<Uri>>>(\"a\"))")]
    [InlineData("TANGO007", "runtime.OpenAsync<Box<object>>(\"a\")")]
    [InlineData("TANGO025", "runtime.OpenWriteOnlyAsync<Box<ImmutableList<byte[]>>>(\"a\")")]
    [InlineData("TANGO025", "runtime.OpenGroupAsync(\"g\", g => g.Add<Box<(int, Bag)>>(\"a\"))")]
    [InlineData(null, "runtime.OpenAsync<Box<ImmutableList<string>>>(\"a\")")]
    [InlineData(null, "runtime.OpenAsync<Box<(int, DateTime?)>>(\"a\")")]
    public async Task Type_arguments_of_opened_objects_are_immutable(string? id, string open)
    {
        string[] expected = id is null ? [] : [id];
        Assert.Equal(expected, await Compiler.Diagnose(
            $$"""
            [TangoObject("box")] public sealed partial class Box<T> : TangoObject { private T? _value; }
            [MessagePackObject] public sealed record Bag([property: Key(0)] List<int> Items);
            public static class Program
            {
                public static async Task Main(TangoRuntime runtime) => await {{open}};
            }
            """));
    }

    [Theory]
    [InlineData("TANGO025", "Box<List<int>>")]
    [InlineData("TANGO008", "Box<Uri>")]
    [InlineData(null, "Box<ImmutableList<string>>")]
    public async Task Type_arguments_of_a_contexts_members_are_looked_at(string? id, string type)
    {
        string[] expected = id is null ? [] : [id];
        Assert.Equal(expected, await Compiler.Diagnose(
            $$"""
            [TangoObject("box")] public sealed partial class Box<T> : TangoObject { private T? _value; }
            [TangoContext("shop")] public sealed partial class ShopContext : TangoContext
            {
                public partial {{type}} Thing { get; }
            }
            """));
    }

    private static string InApply(string statement) => Sources.Object(
        $$"""
        private long _x;
        private ImmutableDictionary<int, int> _map = ImmutableDictionary<int, int>.Empty;
        private ImmutableHashSet<int> _set = [];
        private long Indirect => Helper();
        [Mutator(1)] public partial ValueTask AAsync();
        private void ApplyA() { {{statement}} }
        private long Helper() => DateTime.UtcNow.Ticks;
        [Accessor] public partial ValueTask<long> GetAsync();
        private long ReadGet() => _x + _map.Count + _set.Count;
        """);

    [Theory]
    [InlineData("await tx.EndTxAsync();", true)]
    [InlineData("await tx.EndTxAsync().ConfigureAwait(false);", true)]
    [InlineData("tx.EndTxAsync();", true)]
    [InlineData("await runtime.RunTransactionAsync(async _ => { await Task.Yield(); return 1; });", true)]
    [InlineData("_ = await tx.EndTxAsync();", false)]
    [InlineData("(await tx.EndTxAsync()).ThrowIfNotCommitted();", false)]
    [InlineData("if (!(await tx.EndTxAsync()).IsCommitted) return;", false)]
    [InlineData("Func<Task> run = async () => await tx.EndTxAsync(); await run();", false)]
    [InlineData("Func<Task> run = async () => { await tx.EndTxAsync(); }; await run();", true)]
    [InlineData("await runtime.SyncAsync();", false)]
    public async Task Outcomes_are_not_dropped(string statement, bool isReported)
    {
        string[] found = await Compiler.Diagnose(
            "public static class User { public static async Task UseAsync(TangoRuntime runtime, TangoTransaction tx) { "
            + statement + " await Task.Yield(); } }");
        Assert.Equal(isReported ? ["TANGO032"] : [], found);
    }
}
