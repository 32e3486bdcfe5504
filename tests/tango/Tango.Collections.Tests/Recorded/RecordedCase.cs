namespace Tango.Collections.Tests.Recorded;

/// <summary>Objects of one value type: what was written to them, and what they hold after it.</summary>
internal abstract class RecordedCase
{
    public abstract Task WriteAsync(TangoRuntime runtime);

    public abstract Task CheckAsync(TangoRuntime runtime);
}

internal sealed class RecordedCase<[TangoStored] T>(string name, params T[] values) : RecordedCase
{
    public override async Task WriteAsync(TangoRuntime runtime)
    {
        var register = await runtime.OpenAsync<TangoRegister<T>>($"register/{name}", OpenMode.Create);
        var list = await runtime.OpenAsync<TangoList<T>>($"list/{name}", OpenMode.Create);
        var queue = await runtime.OpenAsync<TangoQueue<T>>($"queue/{name}", OpenMode.Create);
        var map = await runtime.OpenAsync<TangoDictionary<string, T>>($"map/{name}", OpenMode.Create);
        for (int i = 0; i < values.Length; i++)
        {
            await register.WriteAsync(values[i]);
            await list.AddAsync(values[i]);
            await queue.EnqueueAsync(values[i]);
            await map.SetAsync($"k{i}", values[i]);
        }
        await list.InsertAsync(0, values[^1]);
        await queue.TryDequeueAsync();
    }

    public override async Task CheckAsync(TangoRuntime runtime)
    {
        var register = await runtime.OpenAsync<TangoRegister<T>>($"register/{name}", OpenMode.Create);
        var list = await runtime.OpenAsync<TangoList<T>>($"list/{name}", OpenMode.Create);
        var queue = await runtime.OpenAsync<TangoQueue<T>>($"queue/{name}", OpenMode.Create);
        var map = await runtime.OpenAsync<TangoDictionary<string, T>>($"map/{name}", OpenMode.Create);
        Plain.Equal(values[^1], await register.ReadAsync());
        Plain.Equal(values.Prepend(values[^1]).ToArray(), (await list.SnapshotAsync()).ToArray());
        Plain.Equal(values.Skip(1).ToArray(), (await queue.DequeueManyAsync(values.Length)).ToArray());
        for (int i = 0; i < values.Length; i++)
        {
            var found = await map.TryGetAsync($"k{i}");
            Assert.True(found.Found);
            Plain.Equal(values[i], found.Value);
        }
    }
}

/// <summary>Objects whose keys are of one type.</summary>
internal sealed class RecordedKeys<[TangoStored] T>(string name, params T[] keys) : RecordedCase
    where T : notnull
{
    public override async Task WriteAsync(TangoRuntime runtime)
    {
        var set = await runtime.OpenAsync<TangoSet<T>>($"set/{name}", OpenMode.Create);
        var map = await runtime.OpenAsync<TangoDictionary<T, int>>($"keys/{name}", OpenMode.Create);
        for (int i = 0; i < keys.Length; i++)
        {
            await set.AddAsync(keys[i]);
            await set.EnsureAsync(keys[i]);
            await map.TryAddAsync(keys[i], i);
            await map.SetAsync(keys[i], i + 100);
        }
        await map.TryUpdateAsync(keys[0], 1000, expected: 100);
        await set.RemoveAsync(keys[^1]);
    }

    public override async Task CheckAsync(TangoRuntime runtime)
    {
        var set = await runtime.OpenAsync<TangoSet<T>>($"set/{name}", OpenMode.Create);
        var map = await runtime.OpenAsync<TangoDictionary<T, int>>($"keys/{name}", OpenMode.Create);
        Assert.Equal(keys.Length - 1, await set.CountAsync());
        Assert.Equal(keys.Length, await map.CountAsync());
        for (int i = 0; i < keys.Length; i++)
        {
            Assert.Equal(i != keys.Length - 1, await set.ContainsAsync(keys[i]));
            Assert.Equal(Lookup.Of(i == 0 ? 1000 : i + 100), await map.TryGetAsync(keys[i]));
        }
    }
}
