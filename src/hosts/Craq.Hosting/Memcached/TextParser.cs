using System.Buffers.Text;

namespace Craq.Hosting.Memcached;

/// <summary>Lines of memcached's text protocol (its <c>protocol.txt</c>). Pure: a line in, a command out.</summary>
internal static class TextParser
{
    /// <summary>Bytes of a line: a retrieval of some 250 keys of full length.</summary>
    public const int MaxLine = 64 << 10;

    public const string UnknownCommand = "ERROR";
    public const string BadFormat = "CLIENT_ERROR bad command line format";
    public const string BadDelta = "CLIENT_ERROR invalid numeric delta argument";
    public const string BadExptime = "CLIENT_ERROR invalid exptime argument";
    public const string TooLarge = "SERVER_ERROR object too large for cache";

    /// <param name="line">Without its end.</param>
    /// <param name="maxValue">Bytes of a value; a larger one is refused and passed over.</param>
    public static TextCommand Parse(ReadOnlySpan<byte> line, int maxValue)
    {
        Span<Range> words = line.Length < 1024 ? stackalloc Range[512] : new Range[line.Length / 2 + 1];
        var count = Split(line, words);
        if (count == 0) return TextCommand.Faulty(UnknownCommand);
        words = words[..count];
        var verb = line[words[0]];
        return verb switch
        {
            _ when verb.SequenceEqual("get"u8) => Retrieve(MemcachedVerb.Get, line, words[1..]),
            _ when verb.SequenceEqual("gets"u8) => Retrieve(MemcachedVerb.Gets, line, words[1..]),
            _ when verb.SequenceEqual("gat"u8) => RetrieveAndTouch(MemcachedVerb.GetAndTouch, line, words[1..]),
            _ when verb.SequenceEqual("gats"u8) => RetrieveAndTouch(MemcachedVerb.GetsAndTouch, line, words[1..]),
            _ when verb.SequenceEqual("set"u8) => Store(MemcachedVerb.Set, line, words, maxValue),
            _ when verb.SequenceEqual("add"u8) => Store(MemcachedVerb.Add, line, words, maxValue),
            _ when verb.SequenceEqual("replace"u8) => Store(MemcachedVerb.Replace, line, words, maxValue),
            _ when verb.SequenceEqual("append"u8) => Store(MemcachedVerb.Append, line, words, maxValue),
            _ when verb.SequenceEqual("prepend"u8) => Store(MemcachedVerb.Prepend, line, words, maxValue),
            _ when verb.SequenceEqual("cas"u8) => Store(MemcachedVerb.CompareAndSet, line, words, maxValue),
            _ when verb.SequenceEqual("incr"u8) => Count(MemcachedVerb.Increment, line, words),
            _ when verb.SequenceEqual("decr"u8) => Count(MemcachedVerb.Decrement, line, words),
            _ when verb.SequenceEqual("delete"u8) => Delete(line, words),
            _ when verb.SequenceEqual("touch"u8) => Touch(line, words),
            _ when verb.SequenceEqual("flush_all"u8) => FlushAll(line, words),
            _ when verb.SequenceEqual("verbosity"u8) => Verbosity(line, words),
            _ when verb.SequenceEqual("version"u8) => Bare(MemcachedVerb.Version, words),
            _ when verb.SequenceEqual("quit"u8) => Bare(MemcachedVerb.Quit, words),
            // Figures of a part, as "stats items", are none here.
            _ when verb.SequenceEqual("stats"u8) && !IsNoReply(line, words) => new TextCommand(MemcachedVerb.Stats, []),
            _ => TextCommand.Faulty(UnknownCommand),
        };
    }

    // get <key>*
    private static TextCommand Retrieve(MemcachedVerb verb, ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        if (words.Length == 0) return TextCommand.Faulty(UnknownCommand);
        return Keys(line, words) is { IsDefault: false } keys
            ? new TextCommand(verb, keys)
            : TextCommand.Faulty(BadFormat);
    }

    // gat <exptime> <key>*
    private static TextCommand RetrieveAndTouch(MemcachedVerb verb, ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        if (words.Length < 2) return TextCommand.Faulty(UnknownCommand);
        if (!TryNumber(line[words[0]], out long exptime)) return TextCommand.Faulty(BadExptime);
        return Keys(line, words[1..]) is { IsDefault: false } keys
            ? new TextCommand(verb, keys, Exptime: exptime)
            : TextCommand.Faulty(BadFormat);
    }

    // set <key> <flags> <exptime> <bytes> [noreply]; cas has <version> behind the bytes.
    private static TextCommand Store(
        MemcachedVerb verb, ReadOnlySpan<byte> line, ReadOnlySpan<Range> words, int maxValue)
    {
        var expected = verb == MemcachedVerb.CompareAndSet ? 6 : 5;
        var noReply = words.Length == expected + 1 && IsNoReply(line, words);
        if (words.Length != expected && !noReply)
            return TextCommand.Faulty(words.Length < expected ? UnknownCommand : BadFormat);
        if (!TryNumber(line[words[4]], out long length) || length is < 0 or > int.MaxValue - 2)
            return TextCommand.Faulty(BadFormat, noReply: noReply);
        // From here on the data block is known, and passed over where the line is wrong.
        var number = 0UL;
        if (!TryKey(line[words[1]], out var key) || !TryNumber(line[words[2]], out ulong flags)
            || flags > uint.MaxValue || !TryNumber(line[words[3]], out long exptime)
            || (expected == 6 && !TryNumber(line[words[5]], out number)))
            return TextCommand.Faulty(BadFormat, (int)length, noReply);
        return length > maxValue
            ? TextCommand.Faulty(TooLarge, (int)length, noReply)
            : new TextCommand(verb, [key], (uint)flags, exptime, (int)length, number, noReply);
    }

    // incr <key> <delta> [noreply]
    private static TextCommand Count(MemcachedVerb verb, ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        var noReply = words.Length == 4 && IsNoReply(line, words);
        if (words.Length != 3 && !noReply) return TextCommand.Faulty(UnknownCommand);
        if (!TryKey(line[words[1]], out var key)) return TextCommand.Faulty(BadFormat, noReply: noReply);
        return TryNumber(line[words[2]], out ulong delta)
            ? new TextCommand(verb, [key], Number: delta, NoReply: noReply)
            : TextCommand.Faulty(BadDelta, noReply: noReply);
    }

    // delete <key> [0] [noreply]
    private static TextCommand Delete(ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        var noReply = IsNoReply(line, words);
        var rest = words[1..(noReply ? words.Length - 1 : words.Length)];
        if (rest.Length == 0) return TextCommand.Faulty(UnknownCommand);
        if (rest.Length > 2 || (rest.Length == 2 && !line[rest[1]].SequenceEqual("0"u8)))
            return TextCommand.Faulty(BadFormat + ".  Usage: delete <key> [noreply]", noReply: noReply);
        return TryKey(line[rest[0]], out var key)
            ? new TextCommand(MemcachedVerb.Delete, [key], NoReply: noReply)
            : TextCommand.Faulty(BadFormat, noReply: noReply);
    }

    // touch <key> <exptime> [noreply]
    private static TextCommand Touch(ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        var noReply = words.Length == 4 && IsNoReply(line, words);
        if (words.Length != 3 && !noReply) return TextCommand.Faulty(UnknownCommand);
        if (!TryKey(line[words[1]], out var key)) return TextCommand.Faulty(BadFormat, noReply: noReply);
        return TryNumber(line[words[2]], out long exptime)
            ? new TextCommand(MemcachedVerb.Touch, [key], Exptime: exptime, NoReply: noReply)
            : TextCommand.Faulty(BadExptime, noReply: noReply);
    }

    // flush_all [delay] [noreply]
    private static TextCommand FlushAll(ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        var noReply = IsNoReply(line, words);
        var rest = words[1..(noReply ? words.Length - 1 : words.Length)];
        var delay = 0L;
        if (rest.Length > 1 || (rest.Length == 1 && (!TryNumber(line[rest[0]], out delay) || delay < 0)))
            return TextCommand.Faulty(BadFormat, noReply: noReply);
        return new TextCommand(MemcachedVerb.FlushAll, [], Exptime: delay, NoReply: noReply);
    }

    // verbosity <level> [noreply]
    private static TextCommand Verbosity(ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        var noReply = IsNoReply(line, words);
        return words.Length == (noReply ? 3 : 2) && TryNumber(line[words[1]], out ulong _)
            ? new TextCommand(MemcachedVerb.Verbosity, [], NoReply: noReply)
            : TextCommand.Faulty(UnknownCommand, noReply: noReply);
    }

    private static TextCommand Bare(MemcachedVerb verb, ReadOnlySpan<Range> words) =>
        words.Length == 1 ? new TextCommand(verb, []) : TextCommand.Faulty(UnknownCommand);

    private static bool IsNoReply(ReadOnlySpan<byte> line, ReadOnlySpan<Range> words) =>
        words.Length > 1 && line[words[^1]].SequenceEqual("noreply"u8);

    private static ImmutableArray<ObjectKey> Keys(ReadOnlySpan<byte> line, ReadOnlySpan<Range> words)
    {
        var keys = ImmutableArray.CreateBuilder<ObjectKey>(words.Length);
        foreach (var word in words)
        {
            if (!TryKey(line[word], out var key)) return default;
            keys.Add(key);
        }

        return keys.MoveToImmutable();
    }

    private static bool TryKey(ReadOnlySpan<byte> word, out ObjectKey key)
    {
        key = word.Length is > 0 and <= ObjectKey.MaxLength ? new ObjectKey(word.ToArray()) : default;
        return !key.Bytes.IsEmpty;
    }

    private static bool TryNumber(ReadOnlySpan<byte> word, out long number) =>
        Utf8Parser.TryParse(word, out number, out var used) && used == word.Length;

    private static bool TryNumber(ReadOnlySpan<byte> word, out ulong number) =>
        Utf8Parser.TryParse(word, out number, out var used) && used == word.Length;

    // Words between spaces; returns their count. Each has a byte and a space, so there are places for all.
    private static int Split(ReadOnlySpan<byte> line, Span<Range> words)
    {
        var count = 0;
        for (var at = 0; at < line.Length;)
        {
            if (line[at] == (byte)' ')
            {
                at++;
                continue;
            }

            var length = line[at..].IndexOf((byte)' ');
            var end = length < 0 ? line.Length : at + length;
            words[count++] = at..end;
            at = end;
        }

        return count;
    }
}
