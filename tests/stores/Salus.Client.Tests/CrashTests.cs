using Salus.Client.Tests.Support;

namespace Salus.Client.Tests;

/// <summary>Random use, crashes of the driver, lost messages and replaced regions, against a plain model.</summary>
public sealed class CrashTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Content_behind_any_crash_is_a_prefix_with_all_that_was_acknowledged(int first)
    {
        for (var seed = first * 1000; seed < (first * 1000) + 12; seed++) DriverWorld.Run(seed, LiveAsync);
    }

    private static async Task LiveAsync(DriverWorld world)
    {
        var model = new VolumeModel(world.Blocks);
        var tag = 0;
        for (var life = 0; life < 4; life++)
        {
            world.Regions.Loss = world.Random.Next(3) == 0 ? 0.03 : 0;
            world.Options = world.Options with { Window = world.Random.Next(1, 6), TreeCache = 1 << 20 };
            var process = await world.MountAsync();
            model.Settle(await process.ReadAsync(0, world.Blocks));
            var calls = new List<Task>();
            var steps = world.Random.Next(5, 60);
            for (var step = 0; step < steps; step++)
            {
                calls.Add(Step(world, process, model, ref tag));
                if (world.Random.Next(3) == 0) await world.SleepAsync(world.Random.Next(20));
            }

            if (world.Random.Next(2) == 0)
            {
                await world.SleepAsync(world.Random.Next(30));
                process.Kill();
            }
            else
            {
                await Task.WhenAll(calls);
                await process.Volume.DisposeAsync();
            }

            // Messages of the dead process that still travel arrive.
            world.Regions.Loss = 0;
        }

        var last = await world.MountAsync();
        model.Settle(await last.ReadAsync(0, world.Blocks));
        await last.Volume.DisposeAsync();
    }

    private static Task Step(DriverWorld world, DriverProcess process, VolumeModel model, ref int tag)
    {
        var first = world.Random.Next(world.Blocks);
        var count = world.Random.Next(1, Math.Min(24, world.Blocks - first) + 1);
        switch (world.Random.Next(12))
        {
            case 0:
                return Observe(world.Regions.ReplaceAsync(world.Random.Next(4)));
            case 1 or 2:
                // Within one region: the parts of a larger one are not atomic.
                count = Math.Min(count, 16 - (first % 16));
                return Acknowledged(model, model.Write(first, new byte[count]),
                    process.ClearAsync(first, count));
            case 3:
                return Observe(process.Volume.FlushAsync().AsTask());
            case 4 or 5 or 6:
                return ReadAsync(process, model, first, count);
            default:
                var tags = new byte[count];
                tag = (tag % 255) + 1;
                Array.Fill(tags, (byte)tag);
                return Acknowledged(model, model.Write(first, tags), process.WriteAsync(first, tags));
        }
    }

    private static async Task ReadAsync(DriverProcess process, VolumeModel model, int first, int count)
    {
        var acknowledged = model.Acknowledged;
        byte[] tags;
        try
        {
            tags = await process.ReadAsync(first, count);
        }
        catch (Exception e) when (e is VolumeException or OperationCanceledException)
        {
            return;
        }

        for (var i = 0; i < count; i++)
            Assert.True(model.MayRead(first + i, tags[i], acknowledged), $"block {first + i} has {tags[i]}");
    }

    private static async Task Acknowledged(VolumeModel model, int unit, Task write)
    {
        try
        {
            await write;
        }
        catch (Exception e) when (e is VolumeException or OperationCanceledException)
        {
            return;
        }

        model.Acknowledge(unit);
    }

    private static async Task Observe(Task call)
    {
        try
        {
            await call;
        }
        catch (Exception e) when (e is VolumeException or OperationCanceledException)
        {
            // The process was killed.
        }
    }
}
