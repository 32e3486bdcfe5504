using Tango.Ledgers.Directory;

namespace Tango.Ledgers;

/// <summary>Wishes for a new ledger.</summary>
public sealed record LedgerSpec
{
    /// <summary>Characters of all names and values of <see cref="Metadata"/>.</summary>
    public const int MaxMetadata = 32 << 10;

    /// <summary>Null: the store chooses one that no ledger had before, above all that ledgers had below 2^62.</summary>
    public LedgerId? Id { get; init; }

    /// <summary>Needed to open or recover the ledger. It guards against mistakes: who can read the log can read the
    /// entries.</summary>
    public ReadOnlyMemory<byte> Password { get; init; }

    /// <summary>The application's own, in every process' memory and never changed.</summary>
    public IReadOnlyDictionary<string, string> Metadata { get; init; } = ImmutableDictionary<string, string>.Empty;

    internal ImmutableArray<LedgerProperty> Properties()
    {
        if (Metadata.Sum(static pair => (long)pair.Key.Length + pair.Value.Length) > MaxMetadata)
            throw new ArgumentException($"The metadata has more than {MaxMetadata} characters.", nameof(Metadata));
        return
        [
            .. Metadata.OrderBy(static pair => pair.Key, StringComparer.Ordinal)
                .Select(static pair => new LedgerProperty(pair.Key, pair.Value)),
        ];
    }
}

/// <summary>A ledger as the store's directory has it.</summary>
/// <param name="IsClosed">Closed by its writer or by a recovery: it has its last entry for ever.</param>
/// <param name="LastEntry">-1: none. Of an open ledger too, whose end is not known here.</param>
/// <param name="Length">Bytes of all entries of a closed ledger; else 0.</param>
public sealed record LedgerMetadata(
    LedgerId Id, DateTimeOffset Created, bool IsClosed, long LastEntry, long Length,
    IReadOnlyDictionary<string, string> Metadata);

/// <summary>An entry of a ledger.</summary>
/// <param name="Id">From 0, without a gap.</param>
public readonly record struct LedgerEntry(long Id, ReadOnlyMemory<byte> Data);
