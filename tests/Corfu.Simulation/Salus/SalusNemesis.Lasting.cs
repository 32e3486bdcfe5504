using System.Globalization;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Storage;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

// Faults that last. They stay with as many machines as a region with three copies bears.
internal sealed partial class SalusNemesis
{
    // Records that a process writes within a cut off tail are a few batches.
    private const int MostCut = 6;

    // Batches that a living writer has acknowledged go at all copies only if each loses more.
    private const int MostCutAlive = 24;

    private bool _hasOldTail;

    private int MostBad => Math.Min(SalusPlan.MostBad, _cluster.Plan.Machines - 3);

    private void Harm(SalusFault fault)
    {
        if (Victim() is not { } machine) return;
        switch (fault)
        {
            case SalusFault.LoseDisk:
                Begin(machine, fault);
                machine.LoseDisk();
                After(Duration(), machine.Start);
                break;
            case SalusFault.OldDisk:
                Begin(machine, fault);
                var copy = machine.Disk.Copy();
                After(Duration(), () => Replace(machine, () => machine.Disk.Restore(copy)));
                break;
            case SalusFault.CutLog:
                Begin(machine, fault);
                Replace(machine, () => CutLog(machine, MostCut));
                break;
            case SalusFault.FlipLog:
                Flip(machine, fault, SimSegmentFiles.Prefix);
                break;
            case SalusFault.FlipFile:
                Flip(machine, fault, SimRegionFiles.Prefix);
                break;
            case SalusFault.Misread:
                Begin(machine, fault);
                machine.Disk.Options = machine.Disk.Options with { Misread = 0.02 };
                break;
            case SalusFault.LyingDisk:
                Begin(machine, fault);
                machine.Disk.IsLying = true;
                break;
            default:
                Begin(machine, fault);
                machine.Sabotage = fault;
                break;
        }
    }

    // All copies of a region lose their newest records. But for living writers, nothing that has seen them in memory
    // stays.
    private void LoseTail(SalusFault fault)
    {
        var volume = _random.Pick(_cluster.Volumes).Id;
        var regions = _cluster.Truth.StateOf(volume).Regions.Values;
        var members = regions.ElementAt(_random.Next(regions.Count())).Current.Members;
        if (fault == SalusFault.LoseTail)
        {
            foreach (var writer in _cluster.Writers) KillWriter(writer);
            _cluster.Monitor.MayLose();
            _history.MayLose();
        }

        foreach (var machine in _cluster.Machines.Where(machine => members.Any(one => one.Store == machine.Store)))
        {
            Begin(machine, fault);
            Replace(machine, () =>
            {
                if (!_hasOldTail && _cluster.Plan.Has(SalusFault.OldTail)) KeepTail(machine, volume);
                CutLog(machine, fault == SalusFault.LoseTailAlive ? MostCutAlive : MostCut);
            });
        }

        _cluster.Operator.Start();
    }

    // The disk as it is now comes back, once in a run, when the operator has given up what the volume lost. It does so
    // behind the end of the other faults, too.
    private void KeepTail(SimSalusMachine machine, VolumeId volume)
    {
        _hasOldTail = true;
        var copy = machine.Disk.Copy();
        var before = _cluster.Truth.StateOf(volume).Head.Losses.Length;
        Look();

        void Look() => _cluster.World.Schedule(null, _random.Exponential(TimeSpan.TicksPerSecond) + 1,
            SimEventKind.Fault, () =>
            {
                if (_cluster.Truth.StateOf(volume).Head.Losses.Length == before) Look();
                else BringBack();
            });

        void BringBack()
        {
            Begin(machine, SalusFault.OldTail);
            _cluster.Monitor.Mark("lost tail on a disk again");
            machine.Kill(powerCut: true);
            machine.Disk.Restore(copy);
            machine.Disturbed();
            machine.Start();
        }
    }

    private SimSalusMachine? Victim()
    {
        SimSalusMachine[] bad = [.. _cluster.Machines.Where(machine => machine.IsBad)];
        if (MostBad == 0) return null;
        return bad.Length < MostBad ? _random.Pick(_cluster.Machines) : _random.Pick(bad);
    }

    private void Begin(SimSalusMachine machine, SalusFault fault)
    {
        machine.SetBad(fault);
        Count(fault);
    }

    private void Replace(SimSalusMachine machine, Action change)
    {
        machine.Kill(powerCut: true);
        change();
        machine.Disturbed();
        After(Duration(), machine.Start);
    }

    private void Flip(SimSalusMachine machine, SalusFault fault, string prefix)
    {
        var isDone = machine.Disk.Damage(prefix, files =>
        {
            (string Name, ReadOnlyMemory<byte> Bytes)[] some = [.. files.Where(file => !file.Bytes.IsEmpty)];
            if (some.Length == 0) return null;
            var (name, bytes) = _random.Pick(some);
            return (name, 0, bytes.Length);
        });
        if (isDone) Begin(machine, fault);
    }

    // The newest records are gone, and nothing says that they were there.
    private void CutLog(SimSalusMachine machine, int most)
    {
        var disk = machine.Disk;
        List<(string Name, int Offset)> records = [];
        var size = _cluster.Plan.Store.SegmentSize;
        var numbers = disk.Names(SimSegmentFiles.Prefix).Select(name =>
            int.Parse(name.AsSpan(SimSegmentFiles.Prefix.Length), CultureInfo.InvariantCulture));
        foreach (var segment in numbers.Order())
        {
            var name = $"{SimSegmentFiles.Prefix}{segment}";
            var bytes = disk.DurableOf(name);
            for (var at = 0; at + RecordFraming.HeaderSize <= bytes.Length;)
            {
                if (RecordFraming.TryDecode(bytes.Span[at..], ((long)segment * size) + at, out var header))
                {
                    records.Add((name, at));
                    at = (int)IRecordLog.Align(at + RecordFraming.HeaderSize + header.BodyLength);
                }
                else
                {
                    at += IRecordLog.Alignment;
                }
            }
        }

        if (records.Count < 2) return;
        var (from, offset) = records[Math.Max(1, records.Count - _random.Between(1, most))];
        var isBehind = false;
        foreach (var name in records.Select(record => record.Name).Distinct())
        {
            if (name == from) isBehind = true;
            if (!isBehind) continue;
            var begin = name == from ? offset : 0;
            disk.Overwrite(name, begin, new byte[disk.DurableOf(name).Length - begin]);
        }

        disk.Delete("mark");
    }
}
