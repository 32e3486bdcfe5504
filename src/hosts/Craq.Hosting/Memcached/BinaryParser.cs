using System.Buffers.Binary;

namespace Craq.Hosting.Memcached;

/// <summary>Requests of memcached's binary protocol. Pure: a header and a body in, a command out.</summary>
internal static class BinaryParser
{
    /// <summary>Bytes of a body; a header that announces more is malformed, as in memcached.</summary>
    public const uint MaxBody = 1 << 30;

    // Increment and decrement of a counter that stays absent have this expiry.
    private const uint NoInitial = uint.MaxValue;

    /// <summary>Judges a header before its body is read.</summary>
    /// <param name="maxValue">Bytes of a value; a larger one is refused and passed over.</param>
    public static BinaryCommand Begin(in BinaryHeader header, int maxValue)
    {
        // Bytes that are no request get no answer, as in memcached: the connection ends as after a quiet quit.
        if (header.Magic != BinaryHeader.Request)
            return new BinaryCommand(header, new BinaryForm(MemcachedVerb.Quit, IsQuiet: true)) { IsMalformed = true };
        var command = new BinaryCommand(header, BinaryForm.Of(header.Opcode));
        if (header.ValueLength < 0 || header.BodyLength > MaxBody)
            return command.Faulty(BinaryStatus.Invalid, isMalformed: true);
        if (command.Verb == MemcachedVerb.None) return command.Faulty(BinaryStatus.UnknownCommand);
        if (!Fits(header, command.Verb)) return command.Faulty(BinaryStatus.Invalid, isMalformed: true);
        return header.ValueLength > maxValue ? command.Faulty(BinaryStatus.TooLarge) : command;
    }

    /// <param name="command">As <see cref="Begin"/> has it, without a fault.</param>
    /// <param name="body">As long as its header says.</param>
    public static BinaryCommand Complete(BinaryCommand command, ReadOnlyMemory<byte> body)
    {
        var extras = body.Span[..command.Header.ExtrasLength];
        var key = body.Slice(command.Header.ExtrasLength, command.Header.KeyLength);
        var value = body[(command.Header.ExtrasLength + command.Header.KeyLength)..];
        if (!key.IsEmpty) command = command with { Key = new ObjectKey(key), Value = value };
        switch (command.Verb)
        {
            case MemcachedVerb.Set or MemcachedVerb.Add or MemcachedVerb.Replace:
                return command with { Flags = Number(extras), Exptime = Number(extras[4..]) };
            case MemcachedVerb.Increment or MemcachedVerb.Decrement:
                var (initial, exptime) = (BinaryPrimitives.ReadUInt64BigEndian(extras[8..]), Number(extras[16..]));
                return command with
                {
                    Delta = BinaryPrimitives.ReadUInt64BigEndian(extras),
                    Initial = exptime == NoInitial ? null : initial,
                    Exptime = exptime,
                };
            case MemcachedVerb.Touch or MemcachedVerb.GetAndTouch or MemcachedVerb.FlushAll when !extras.IsEmpty:
                return command with { Exptime = Number(extras) };
            default:
                return command;
        }
    }

    // Whether the lengths are those of the command: extras, key, value.
    private static bool Fits(in BinaryHeader header, MemcachedVerb verb)
    {
        var hasKey = header.KeyLength is > 0 and <= ObjectKey.MaxLength;
        var hasNoKey = header.KeyLength == 0;
        var hasNoValue = header.ValueLength == 0;
        return verb switch
        {
            MemcachedVerb.Get or MemcachedVerb.Delete => header.ExtrasLength == 0 && hasKey && hasNoValue,
            MemcachedVerb.Set or MemcachedVerb.Add or MemcachedVerb.Replace => header.ExtrasLength == 8 && hasKey,
            MemcachedVerb.Append or MemcachedVerb.Prepend => header.ExtrasLength == 0 && hasKey,
            MemcachedVerb.Increment or MemcachedVerb.Decrement => header.ExtrasLength == 20 && hasKey && hasNoValue,
            MemcachedVerb.Touch or MemcachedVerb.GetAndTouch => header.ExtrasLength == 4 && hasKey && hasNoValue,
            MemcachedVerb.FlushAll => header.ExtrasLength is 0 or 4 && hasNoKey && hasNoValue,
            MemcachedVerb.Verbosity => header.ExtrasLength == 4 && hasNoKey && hasNoValue,
            MemcachedVerb.Stats => header.ExtrasLength == 0 && (hasKey || hasNoKey) && hasNoValue,
            _ => header.BodyLength == 0,
        };
    }

    private static uint Number(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt32BigEndian(bytes);
}
