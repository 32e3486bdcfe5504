using System.Globalization;
using System.Reflection;
using MessagePack;
using Tango;
using Tango.Collections;
using Tango.Formatting;

namespace Corfu.WebConsole.Reading;

/// <summary>Contents of the built-in types over values of built-in types, found by the name that the directory
/// records. Of others the calls are shown.</summary>
internal static class TypedContents
{
    private const int MaxRows = 500;
    private const int MaxText = 600;

    private static readonly Type[] s_values =
    [
        typeof(bool), typeof(byte), typeof(sbyte), typeof(short), typeof(ushort), typeof(int), typeof(uint),
        typeof(long), typeof(ulong), typeof(float), typeof(double), typeof(char), typeof(string), typeof(byte[]),
        typeof(decimal), typeof(Guid), typeof(DateTime), typeof(DateTimeOffset), typeof(TimeSpan), typeof(DateOnly),
        typeof(TimeOnly),
    ];

    private static readonly Dictionary<string, string> s_readers = new()
    {
        ["tango.dictionary"] = nameof(ReadDictionaryAsync),
        ["tango.log-dictionary"] = nameof(ReadLogDictionaryAsync),
        ["tango.sorted-dictionary"] = nameof(ReadSortedDictionaryAsync),
        ["tango.leased-dictionary"] = nameof(ReadLeasedDictionaryAsync),
        ["tango.set"] = nameof(ReadSetAsync),
        ["tango.sorted-set"] = nameof(ReadSortedSetAsync),
        ["tango.list"] = nameof(ReadListAsync),
        ["tango.queue"] = nameof(ReadQueueAsync),
        ["tango.register"] = nameof(ReadRegisterAsync),
        ["tango.tree"] = nameof(ReadTreeAsync),
        ["tango.work-queue"] = nameof(ReadWorkQueueAsync),
        ["tango.counter"] = nameof(ReadCounterAsync),
        ["tango.lock"] = nameof(ReadLockAsync),
    };

    public static Task<ObjectContents> ReadAsync(
        TangoHistory history, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        if (FindReader(entry.TypeName) is not { } reader)
            return Task.FromResult(ObjectContents.None(
                "The console does not know this type, so that it shows the object's calls alone."));
        return (Task<ObjectContents>)reader.Invoke(null, [history, entry.Name, cancellationToken])!;
    }

    private static MethodInfo? FindReader(string typeName)
    {
        var open = typeName.IndexOf('<', StringComparison.Ordinal);
        var plain = open < 0 ? typeName : typeName[..open];
        if (!s_readers.TryGetValue(plain, out var name)) return null;
        var method = typeof(TypedContents).GetMethod(name, BindingFlags.NonPublic | BindingFlags.Static)!;
        if (open < 0) return method.IsGenericMethodDefinition ? null : method;
        if (!typeName.EndsWith('>')) return null;
        var arguments = typeName[(open + 1)..^1].Split(',').Select(FindValue).ToArray();
        return method.IsGenericMethodDefinition && arguments.Length == method.GetGenericArguments().Length
            && !arguments.Contains(null)
            ? method.MakeGenericMethod(arguments!)
            : null;
    }

    private static Type? FindValue(string name) => Array.Find(s_values, type => TangoTypeName.Of(type) == name);

    private static async Task<ObjectContents> ReadDictionaryAsync<TKey, TValue>(
        TangoHistory history, string name, CancellationToken stop)
        where TKey : notnull =>
        Pairs(await (await history.OpenAsync<TangoDictionary<TKey, TValue>>(name, stop)).SnapshotAsync(stop));

    private static async Task<ObjectContents> ReadSortedDictionaryAsync<TKey, TValue>(
        TangoHistory history, string name, CancellationToken stop)
        where TKey : notnull =>
        Pairs(
            await (await history.OpenAsync<TangoSortedDictionary<TKey, TValue>>(name, stop)).SnapshotAsync(stop),
            isSorted: true);

    private static async Task<ObjectContents> ReadLeasedDictionaryAsync<TKey, TValue>(
        TangoHistory history, string name, CancellationToken stop)
        where TKey : notnull =>
        Pairs(await (await history.OpenAsync<TangoLeasedDictionary<TKey, TValue>>(name, stop)).SnapshotAsync(stop));

    private static async Task<ObjectContents> ReadLogDictionaryAsync<TKey, TValue>(
        TangoHistory history, string name, CancellationToken stop)
        where TKey : notnull =>
        Keys("Key", await (await history.OpenAsync<TangoLogDictionary<TKey, TValue>>(name, stop)).KeysAsync(stop));

    private static async Task<ObjectContents> ReadSetAsync<T>(TangoHistory history, string name, CancellationToken stop)
        where T : notnull =>
        Keys("Item", await (await history.OpenAsync<TangoSet<T>>(name, stop)).SnapshotAsync(stop));

    private static async Task<ObjectContents> ReadSortedSetAsync<T>(
        TangoHistory history, string name, CancellationToken stop)
        where T : notnull =>
        Keys(
            "Item", await (await history.OpenAsync<TangoSortedSet<T>>(name, stop)).SnapshotAsync(stop), isSorted: true);

    private static async Task<ObjectContents> ReadListAsync<T>(
        TangoHistory history, string name, CancellationToken stop) =>
        Numbered(await (await history.OpenAsync<TangoList<T>>(name, stop)).SnapshotAsync(stop));

    private static async Task<ObjectContents> ReadQueueAsync<T>(
        TangoHistory history, string name, CancellationToken stop) =>
        Numbered(await (await history.OpenAsync<TangoQueue<T>>(name, stop)).SnapshotAsync(stop));

    private static async Task<ObjectContents> ReadRegisterAsync<T>(
        TangoHistory history, string name, CancellationToken stop) =>
        Single("Value", Text(await (await history.OpenAsync<TangoRegister<T>>(name, stop)).ReadAsync(stop)));

    private static async Task<ObjectContents> ReadTreeAsync<T>(
        TangoHistory history, string name, CancellationToken stop)
    {
        var found = await history.OpenAsync<TangoTree<T>>(name, stop);
        var nodes = await found.SnapshotAsync(cancellationToken: stop);
        return Table(
            ["Path", "Value"], nodes.Select(node => (Row(null, node.Key, Text(node.Value.Value)), node.Key)),
            nodes.Count);
    }

    private static async Task<ObjectContents> ReadWorkQueueAsync<T>(
        TangoHistory history, string name, CancellationToken stop)
    {
        var found = await history.OpenAsync<TangoWorkQueue<T>>(name, stop);
        var dead = await found.DeadLettersAsync(stop);
        return Facts(
            ("waiting", Number(await found.WaitingAsync(stop))),
            ("delivered", Number(await found.DeliveredAsync(stop))),
            ("dead letters", Number(dead.Count)),
            ("attempts at most", Number(await found.MaxAttemptsAsync(stop))));
    }

    private static async Task<ObjectContents> ReadCounterAsync(
        TangoHistory history, string name, CancellationToken stop) =>
        Single("Value", Number(await (await history.OpenAsync<TangoCounter>(name, stop)).ReadAsync(stop)));

    private static async Task<ObjectContents> ReadLockAsync(TangoHistory history, string name, CancellationToken stop)
    {
        var found = await history.OpenAsync<TangoLock>(name, stop);
        var holder = await found.HolderAsync(stop);
        return Facts(
            ("holder", holder.TryGet(out var held) ? held.Owner.Length > 0 ? held.Owner : "without a name" : "none"),
            ("fencing token", holder.Found ? Number(holder.Value.FencingToken) : "–"),
            ("waiting and holding", Number(await found.CountAsync(stop))));
    }

    private static ObjectContents Pairs<TKey, TValue>(
        IReadOnlyCollection<KeyValuePair<TKey, TValue>> pairs, bool isSorted = false)
        where TKey : notnull => Table(
            ["Key", "Value"],
            pairs.Select(pair => (
                Row(KeyOf(pair.Key), Text(pair.Key), Text(pair.Value)), isSorted ? "" : Text(pair.Key))),
            pairs.Count);

    private static ObjectContents Keys<T>(string column, IReadOnlyCollection<T> keys, bool isSorted = false) => Table(
        [column], keys.Select(key => (Row(KeyOf(key), Text(key)), isSorted ? "" : Text(key))), keys.Count);

    private static ObjectContents Numbered<T>(IReadOnlyCollection<T> items) => Table(
        ["Index", "Item"], items.Select((item, i) => (Row(null, Number(i), Text(item)), "")), items.Count);

    private static ObjectContents Single(string column, string text) => new([column], [Row(null, text)], 1, null);

    private static ObjectContents Facts(params ReadOnlySpan<(string What, string Value)> facts)
    {
        var rows = ImmutableArray.CreateBuilder<ContentRow>(facts.Length);
        foreach (var (what, value) in facts) rows.Add(Row(null, what, value));
        return new ObjectContents(["State", "Value"], rows.MoveToImmutable(), facts.Length, null);
    }

    private static ObjectContents Table(
        ImmutableArray<string> columns, IEnumerable<(ContentRow Row, string Order)> rows, long count) => new(
            columns,
            [
                .. rows.OrderBy(static row => row.Order, StringComparer.Ordinal).Take(MaxRows)
                    .Select(static row => row.Row),
            ],
            count, null);

    private static ContentRow Row(byte[]? key, params ImmutableArray<string> cells) => new(cells, key);

    // The form of a key in a record: the encodings of the key's parameters.
    private static byte[] KeyOf<T>(T key) => TangoFormatters.ToBytes(key).ToArray();

    private static string Number(long value) => value.ToString(CultureInfo.InvariantCulture);

    private static string Text<T>(T value)
    {
        var text = value switch
        {
            null => "null",
            string plain => plain,
            byte[] bytes => Convert.ToHexStringLower(bytes),
            IFormattable formattable => formattable.ToString(null, CultureInfo.InvariantCulture),
            _ => MessagePackSerializer.ConvertToJson(TangoFormatters.ToBytes(value), TangoFormatters.Options),
        };
        return text.Length <= MaxText ? text : $"{text[..MaxText]}…";
    }
}
