using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Tests;

public sealed class SimDiskTests
{
    private static byte[] Content(SimFile file)
    {
        byte[] bytes = new byte[file.Length];
        file.Read(0, bytes);
        return bytes;
    }

    [Fact]
    public void Unflushed_write_is_lost_at_a_power_cut()
    {
        var disk = new SimDisk(new World(1), "d", new SimDiskOptions { KeepAtCrash = 0 });
        SimFile file = disk.Open("f");
        disk.Write(file, 0, [1, 2, 3]);
        Assert.Equal([1, 2, 3], Content(file));
        disk.Crash();
        Assert.Empty(Content(file));
        Assert.Equal(1, disk.LostWrites);
    }

    [Fact]
    public void Any_subset_of_unflushed_writes_may_survive()
    {
        HashSet<string> outcomes = [];
        for (ulong seed = 1; seed < 200; seed++)
        {
            var disk = new SimDisk(new World(seed), "d", new SimDiskOptions { KeepAtCrash = 0.5 });
            SimFile file = disk.Open("f");
            disk.Write(file, 0, [1]);
            disk.Write(file, 1, [2]);
            disk.Crash();
            outcomes.Add(Convert.ToHexString(Content(file)));
        }

        Assert.Equal(["", "0002", "01", "0102"], outcomes.Order());
    }

    [Fact]
    public void A_torn_write_leaves_a_part()
    {
        int torn = 0;
        for (ulong seed = 1; seed < 50; seed++)
        {
            var disk = new SimDisk(new World(seed), "d", new SimDiskOptions { KeepAtCrash = 1, TearAtCrash = 1 });
            SimFile file = disk.Open("f");
            byte[] bytes = new byte[2000];
            Array.Fill(bytes, (byte)7);
            disk.Write(file, 0, bytes);
            disk.Crash();
            if (!Content(file).SequenceEqual(bytes)) torn++;
        }

        Assert.True(torn > 40, $"only {torn} of 49 were torn");
    }

    [Fact]
    public void Restored_disk_has_the_earlier_content()
    {
        var disk = new SimDisk(new World(1), "d", new SimDiskOptions());
        disk.Overwrite("f", 0, [1]);
        SimFile file = disk.Open("f");
        disk.Write(file, 1, [2]);
        IReadOnlyList<(string Name, byte[] Bytes)> copy = disk.Copy();
        disk.Overwrite("f", 0, [3]);
        disk.Overwrite("g", 0, [4]);
        disk.Restore(copy);
        Assert.Equal([1], disk.ReadAll("f"));
        Assert.Equal([1], disk.DurableOf("f").ToArray());
        Assert.False(disk.Exists("g"));
        Assert.True(disk.DurableOf("g").IsEmpty);
    }
}
