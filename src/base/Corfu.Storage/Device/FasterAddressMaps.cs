using System.Globalization;

namespace Corfu.Storage;

/// <summary>Address maps in a folder: FASTER's files, and the store's documents as files
/// <c>checkpoint.N</c>.</summary>
/// <param name="hash">The keys' hash function; null: FASTER's own, for keys that it knows.</param>
/// <param name="write">For tests with a full disk.</param>
public sealed class FasterAddressMaps<TKey, TSlot>(string folder, AddressMapSizes sizes,
    Func<TKey, long>? hash = null, WriteBytes? write = null) : IAddressMaps<TKey, TSlot>
    where TKey : unmanaged, IEquatable<TKey>
    where TSlot : unmanaged
{
    private const string Prefix = "checkpoint.";

    public IAddressMap<TKey, TSlot> Open(Guid? checkpoint, Action<Exception> failed) =>
        new FasterAddressMap<TKey, TSlot>(folder, sizes, failed, hash, checkpoint, write);

    public IReadOnlyList<long> List() => Directory.Exists(folder) ? DurableFile.ListNumbered(folder, Prefix) : [];

    public byte[] Read(long number) => File.ReadAllBytes(PathOf(number));

    public ValueTask PublishAsync(long number, ReadOnlyMemory<byte> document)
    {
        DurableFile.Replace(PathOf(number), document.Span);
        return ValueTask.CompletedTask;
    }

    public void Delete(IReadOnlyCollection<long> numbers)
    {
        if (numbers.Count == 0) return;
        foreach (var number in numbers) File.Delete(PathOf(number));
        DurableFile.SyncDirectory(folder);
    }

    public void Purge(IReadOnlyCollection<Guid> kept) => FasterCheckpointFiles.Purge(folder, kept);

    private string PathOf(long number) => Path.Combine(folder, Prefix + number.ToString(CultureInfo.InvariantCulture));
}
