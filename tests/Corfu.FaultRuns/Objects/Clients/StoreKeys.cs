using System.Globalization;

namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>The chains and objects of the run, each with the rule by which it is written.</summary>
public static class StoreKeys
{
    /// <summary>The chains of the keyspace that <c>corfu craq up</c> makes.</summary>
    public const int Chains = 8;

    /// <summary>Chains whose accounts and tokens belong together.</summary>
    public const int GroupSize = 2;

    public const int Groups = Chains / GroupSize;

    /// <summary>Number that only increments change.</summary>
    public const string Counter = "counter";

    /// <summary>Number that only transfers change: the sum of a group's accounts stays.</summary>
    public const string Account = "account";

    /// <summary>An account's first balance: no transfer stops at zero.</summary>
    public const long Deposit = 1_000_000;

    // Rarely written, so that a node which learns a chain has most of them and lacks some.
    private const int Cold = 120;

    private const string RegisterPrefix = "r";
    private const string ListPrefix = "list-";
    private const string TokenPrefix = "tokens-";

    // Short lists keep the history small.
    private static readonly TimeSpan s_bucket = TimeSpan.FromSeconds(4);

    /// <summary>The registers that are read together and written often. Registers have puts, deletes, compares, in any
    /// order.</summary>
    public static IReadOnlyList<string> Hot { get; } = [Register(0), Register(1), Register(2)];

    /// <summary>Two objects that mutations put together, with one value.</summary>
    public static IReadOnlyList<string> Pair { get; } = ["pair-a", "pair-b"];

    public static string Chain(int index) => string.Create(CultureInfo.InvariantCulture, $"main-{index}");

    /// <summary>A list to which mutations of its chain append.</summary>
    public static string List(long now) => ListPrefix + Bucket(now);

    /// <summary>A list to which transactions append one token in both chains of a group.</summary>
    public static string Tokens(long now) => TokenPrefix + Bucket(now);

    /// <summary>A register: a hot one as often as a cold one.</summary>
    public static string AnyRegister(Random random) =>
        random.Next(2) == 0 ? Hot[random.Next(Hot.Count)] : Register(Hot.Count + random.Next(Cold));

    public static bool IsRegister(string key) =>
        key.StartsWith(RegisterPrefix, StringComparison.Ordinal) && char.IsAsciiDigit(key[^1]);

    public static bool IsAppended(string key) =>
        key.StartsWith(ListPrefix, StringComparison.Ordinal) || IsTokens(key);

    public static bool IsTokens(string key) => key.StartsWith(TokenPrefix, StringComparison.Ordinal);

    /// <summary>A value that only additions change.</summary>
    public static bool IsSummed(string key) => key is Counter or Account;

    public static string Item(string name) => name + ";";

    public static IEnumerable<string> Items(string list) => list.Split(';', StringSplitOptions.RemoveEmptyEntries);

    private static string Register(int index) =>
        string.Create(CultureInfo.InvariantCulture, $"{RegisterPrefix}{index}");

    private static long Bucket(long ticks) =>
        (long)(ticks / (s_bucket.TotalSeconds * System.Diagnostics.Stopwatch.Frequency));
}
