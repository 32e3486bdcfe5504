using Corfu.Simulation.Kernel.Disk;
using Salus.Protocol;
using Salus.Store.Files;

namespace Corfu.Simulation.Salus;

// Stores: what their disks hold.
internal sealed partial class SalusMonitor
{
    /// <summary>Learns what has become durable since.</summary>
    public void Look()
    {
        foreach (var machine in _machines.Values) machine.Look();
    }

    public IStoreVisitor VisitorOf(SimSalusMachine machine) => new Visitor(this, machine);

    public IRegionFilesObserver FilesOf(SimSalusMachine machine) => new FilesObserver(this, machine);

    private void Held(string machine, RegionRecord record)
    {
        var head = record.Head;
        var (chain, previous) = ($"{head.Chain}", head.Previous.IsEmpty ? "" : $"{head.Previous}");
        var content = ContentOf(head.Region);
        switch (head.Kind)
        {
            case RegionRecordKind.Put:
                var batch = SubBatch.Decode(record.Content, out _);
                OrderOf(head.Region.Volume).Held(head.Region.Region, machine, SalusText.FactOf(batch.Header.Name));
                if (content is null || content.Knows(chain) || !IsCorrect(machine)) break;
                Found(content.Put(chain, previous, SalusText.FactOf(batch.Header.Name), ChangesOf(batch),
                    $"{batch.Participant.Root}", machine));
                break;
            case RegionRecordKind.Open:
                if (!IsCorrect(machine) || content is null || content.Knows(chain)) break;
                Mark("opening logged");
                var opening = Opening.Decode(record.Content);
                Found(content.Open(chain, previous, SalusText.FactOf(opening.Last), machine));
                break;
            default:
                if (IsCorrect(machine)) content?.Other(chain, previous);
                break;
        }
    }

    private static IEnumerable<(int First, int Count, string Hash)> ChangesOf(SubBatch batch) =>
    [
        .. batch.Zeros.Select(zero => (zero.First, zero.Count, "")),
        .. batch.Writes.Select(write => (write.Block, 1, $"{write.Hash}")),
    ];

    private void Freed(SimSalusMachine machine, RegionKey region, long index)
    {
        Mark("records freed");
        var state = truth.StateOf(region.Volume);
        if (machine.IsBad || !state.Regions.TryGetValue(region.Region, out var known)) return;
        // Snapshots keep older checkpoints, and no records.
        var floor = known.Checkpoints.Where(checkpoint => checkpoint.Batch <= state.Head.Stable)
            .Select(checkpoint => checkpoint.Index).DefaultIfEmpty().Max();
        Found(RegionFilesCheck.Freed(machine.Name, $"{region}", index, floor));
    }

    private void Published(SimSalusMachine machine, RegionFile file, byte[] bytes)
    {
        Mark("file written");
        if (machine.IsBad) return;
        var opened = CheckpointFile.OpenAsync(new OneFile(file, bytes), file);
        // The bytes are in memory: nothing is waited for.
        if (!opened.IsCompletedSuccessfully)
        {
            Found(CheckerNames.SameFiles,
                $"{machine.Name} publishes file {file.Number} of {file.Region}, which is no checkpoint");
            return;
        }

        var state = opened.Result.State;
        // The same log has less behind the record of a loss: batches that were given up are void.
        var at = truth.StateOf(file.Region.Volume).Head.Losses.IsEmpty
            ? $"{state.Chain}"
            : $"{state.Chain} {state.Batch}";
        Found(_files.Written(machine.Name, $"{file.Region}", file.Number, at, $"{Hash128.Of(bytes)}",
            [.. state.Files.Select(use => (long)use.File)]));
        OrderOf(file.Region.Volume).Covered(file.Region.Region, machine.Name, state.Batch.Number);
    }

    // A store drops all of a region when no generation that a recovery may read names it. One that it has not played
    // may name it already.
    private void Deleted(SimSalusMachine machine, RegionFile file)
    {
        Mark("file deleted");
        if (machine.IsBad || !truth.StateOf(file.Region.Volume).Regions.TryGetValue(file.Region.Region, out var region)
            || region.Past.Add(region.Current).All(generation =>
                generation.Members.All(member => member.Store != machine.Store))) return;
        Found(_files.Deleted(machine.Name, $"{file.Region}", file.Number));
    }

    private sealed class Visitor(SalusMonitor monitor, SimSalusMachine machine) : IStoreVisitor
    {
        public void Record(RegionRecord record) => monitor.Held(machine.Name, record);

        public void Floor(RegionKey region, long index) => monitor.Freed(machine, region, index);
    }

    private sealed class FilesObserver(SalusMonitor monitor, SimSalusMachine machine) : IRegionFilesObserver
    {
        public void Published(RegionFile file, byte[] bytes) => monitor.Published(machine, file, bytes);

        public void Deleted(RegionFile file) => monitor.Deleted(machine, file);
    }

    private sealed class OneFile(RegionFile file, byte[] bytes) : IRegionFiles
    {
        public IReadOnlyList<RegionFile> List() => [file];

        public IRegionFileWriter Create(RegionFile file) => throw new NotSupportedException();

        public long Length(RegionFile file) => bytes.Length;

        public ValueTask<int> ReadAsync(RegionFile file, long offset, Memory<byte> buffer)
        {
            var count = (int)Math.Clamp(bytes.Length - offset, 0, buffer.Length);
            if (count > 0) bytes.AsMemory((int)offset, count).CopyTo(buffer);
            return ValueTask.FromResult(count);
        }

        public void Delete(RegionFile file) => throw new NotSupportedException();
    }
}
