using System.Globalization;

namespace Corfu.Unit;

/// <summary>Address maps in a folder: FASTER's files, and the page store's documents as files
/// <c>checkpoint.N</c>.</summary>
internal sealed class FasterAddressMaps(string folder, PageStoreOptions options, WriteBytes? write = null)
    : IAddressMaps
{
    private const string Prefix = "checkpoint.";
    private const string FreshName = "new.checkpoint";

    public IAddressMap Open(Guid? checkpoint, Action<Exception> failed) =>
        new FasterAddressMap(folder, options.MapIndexSize, options.MapMemory, failed, checkpoint, write);

    public IReadOnlyList<long> List() => Directory.Exists(folder) ? Native.ListNumbered(folder, Prefix) : [];

    public byte[] Read(long number) => File.ReadAllBytes(PathOf(number));

    public ValueTask PublishAsync(long number, ReadOnlyMemory<byte> document)
    {
        Native.Replace(PathOf(number), Path.Combine(folder, FreshName), document.Span);
        Native.SyncDirectory(folder);
        return ValueTask.CompletedTask;
    }

    public void Delete(IReadOnlyCollection<long> numbers)
    {
        if (numbers.Count == 0) return;
        foreach (var number in numbers) File.Delete(PathOf(number));
        Native.SyncDirectory(folder);
    }

    public void Purge(IReadOnlyCollection<Guid> kept) => FasterCheckpointFiles.Purge(folder, kept);

    private string PathOf(long number) => Path.Combine(folder, Prefix + number.ToString(CultureInfo.InvariantCulture));
}
