using System.Globalization;

namespace Corfu.Unit;

/// <summary>Address maps in a folder: FASTER's files, and the page store's documents as files
/// <c>checkpoint.N</c>.</summary>
internal sealed class FasterAddressMaps(string folder, PageStoreOptions options, WriteBytes? write = null)
    : IAddressMaps
{
    private const string Prefix = "checkpoint.";

    public IAddressMap Open(Guid? checkpoint, Action<Exception> failed) =>
        new FasterAddressMap(folder, options.MapIndexSize, options.MapMemory, failed, checkpoint, write);

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
