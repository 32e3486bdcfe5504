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

    public IReadOnlyList<long> List()
    {
        if (!Directory.Exists(folder)) return [];
        var numbers = new List<long>();
        foreach (var path in Directory.GetFiles(folder, Prefix + "*"))
        {
            if (long.TryParse(Path.GetFileName(path.AsSpan())[Prefix.Length..], NumberStyles.None,
                CultureInfo.InvariantCulture, out var number))
                numbers.Add(number);
        }

        return numbers;
    }

    public byte[] Read(long number) => File.ReadAllBytes(PathOf(number));

    public ValueTask PublishAsync(long number, ReadOnlyMemory<byte> document)
    {
        var fresh = Path.Combine(folder, FreshName);
        using (var file = File.OpenHandle(fresh, FileMode.Create, FileAccess.Write))
        {
            Native.Write(file, fresh, document.Span, 0);
            Native.SyncData(file, fresh);
        }

        File.Move(fresh, PathOf(number), overwrite: true);
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
