using System.Globalization;
using System.Text;

namespace Corfu.Simulation.Services;

/// <summary>A transaction that puts keys, and what its process was told of it. Its values name it.</summary>
internal sealed class StoreWriteFact(long id, IReadOnlyCollection<string> keys)
{
    // Values of different writes have the same length.
    private static readonly int[] s_lengths = [12, 40, 700, 3_000];

    public long Id => id;

    public IReadOnlyCollection<string> Keys => keys;

    /// <summary>0: none.</summary>
    public long Lease { get; set; }

    /// <summary>As its process was told. Null: it has no answer.</summary>
    public long? Told { get; set; }

    /// <summary>As the changes have it. Null: no watch has told it.</summary>
    public long? Seen { get; set; }

    /// <summary>The process was told that it changes nothing.</summary>
    public bool IsVoid { get; set; }

    public ReadOnlyMemory<byte> Value => Encoding.UTF8.GetBytes(
        $"{id} ".PadRight(s_lengths[(int)(id * 7 % 11 % s_lengths.Length)], '.'));

    public static long IdIn(ReadOnlyMemory<byte> value)
    {
        string text = Encoding.UTF8.GetString(value.Span);
        int end = text.IndexOf(' ', StringComparison.Ordinal);
        return end > 0 && long.TryParse(text.AsSpan(0, end), CultureInfo.InvariantCulture, out long id) ? id : -1;
    }
}

/// <summary>A call that deletes keys.</summary>
/// <param name="key">Null: all.</param>
internal sealed class StoreDeletionFact(string? key)
{
    /// <summary>As its process was told; 0: it changed nothing. Null: it has no answer.</summary>
    public long? Revision { get; set; }

    public bool MayHaveMade(long revision, string deleted) =>
        (key is null || key == deleted) && (Revision ?? revision) == revision;
}
