using System.Text;

namespace Corfu.StateMachines.Records;

/// <summary>Checks that MessagePack-CSharp's reader lacks: counts beyond the input, text where bytes are expected, text
/// that is not Unicode.</summary>
internal static class StrictReading
{
    private static readonly UTF8Encoding s_utf8 =
        new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Reads what <paramref name="read"/> reads, to the last byte.</summary>
    /// <exception cref="MachineFormatException">The bytes are not what was asked for.</exception>
    public static T ReadAll<T>(ReadOnlyMemory<byte> bytes, ReadFrom<T> read)
    {
        try
        {
            var reader = new MessagePackReader(bytes);
            var value = read(ref reader);
            if (!reader.End) throw new MachineFormatException($"{bytes.Length - reader.Consumed} bytes too many");
            return value;
        }
        catch (Exception e) when (e is MessagePackSerializationException or EndOfStreamException or OverflowException
            or DecoderFallbackException or ArgumentOutOfRangeException)
        {
            throw new MachineFormatException($"Bytes of a machine cannot be read: {e.Message}", e);
        }
    }

    /// <summary>The number of elements that follow, each at least a byte of those left.</summary>
    public static int ReadCount(ref this MessagePackReader reader)
    {
        var count = reader.ReadArrayHeader();
        if (count < 0 || count > reader.Sequence.Length - reader.Consumed)
            throw new MachineFormatException($"An array of {count} elements is longer than its bytes");
        return count;
    }

    public static void ReadArray(ref this MessagePackReader reader, int count)
    {
        if (reader.ReadCount() != count) throw new MachineFormatException($"An array has not {count} elements");
    }

    /// <summary>A part of the input.</summary>
    public static ReadOnlyMemory<byte> ReadBinary(ref this MessagePackReader reader)
    {
        if (reader.NextMessagePackType != MessagePackType.Binary)
            throw new MachineFormatException("Bytes were expected");
        return reader.ReadBytes()!.Value.First;
    }

    public static string ReadText(ref this MessagePackReader reader)
    {
        if (reader.NextMessagePackType != MessagePackType.String)
            throw new MachineFormatException("A text was expected");
        var bytes = reader.ReadStringSequence()!.Value;
        return s_utf8.GetString(bytes);
    }

    public static long ReadNumber(ref this MessagePackReader reader)
    {
        var number = reader.ReadInt64();
        return number >= 0 ? number : throw new MachineFormatException($"A negative number: {number}");
    }

    public static int ReadCounter(ref this MessagePackReader reader) => checked((int)reader.ReadNumber());

    public static LogPosition ReadPosition(ref this MessagePackReader reader) => new(reader.ReadNumber());

    public delegate T ReadFrom<T>(ref MessagePackReader reader);
}
