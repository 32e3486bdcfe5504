using System.Text;

namespace Corfu.FaultRuns.Clients;

/// <summary>Entries whose every byte follows from their name: nothing can be changed unnoticed.</summary>
public static class EntryText
{
    public const int Streams = 4;

    public static byte[] Make(string id)
    {
        var hash = 14695981039346656037UL;
        foreach (var c in id) hash = (hash ^ c) * 1099511628211UL;
        // Entries of the power cuts are large, so that a unit's log gets cleaned.
        var bytes = new byte[id.Length + 1 + (int)(hash % (id[0] == 'p' ? 24_000UL : 900UL))];
        Encoding.ASCII.GetBytes(id, bytes);
        for (var i = id.Length + 1; i < bytes.Length; i++)
        {
            hash = (hash ^ (ulong)i) * 1099511628211UL;
            bytes[i] = (byte)(hash >> 32);
        }

        return bytes;
    }

    /// <summary>The name, or null if any byte is not what the name demands.</summary>
    public static string? NameOf(ReadOnlySpan<byte> bytes)
    {
        var end = bytes.IndexOf((byte)0);
        var id = Encoding.ASCII.GetString(end < 0 ? bytes : bytes[..end]);
        return Make(id).AsSpan().SequenceEqual(bytes) ? id : null;
    }

    /// <summary>The entry's stream, by its name.</summary>
    public static StreamId StreamOf(string id) => Stream(id[^1] % Streams);

    public static StreamId Stream(int index) => new(StreamId.FirstRawValue + (ulong)index);
}
