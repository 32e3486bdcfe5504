using Salus.Store.Log;
using Salus.Store.Shell;

namespace Salus.Store.Tests;

public sealed class StoreFolderTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("salus-store-").FullName;

    public void Dispose() => Directory.Delete(_folder, true);

    [Fact]
    public async Task Folder_has_the_records_after_a_restart()
    {
        var region = new TestRegion(0);
        await using (var store = await OpenAsync(mustExist: false))
        {
            for (var i = 0; i < 20; i++) await StoreLogConformance.AppendAsync(store.Log, region.Put(4));
        }

        await using (var store = await OpenAsync(mustExist: true))
        {
            Assert.Equal(StoreState.Serving, store.Log.State);
            foreach (var record in region.Records)
            {
                var found = await store.Log.ReadAsync(region.Key, TestRegion.NameOf(record));
                Assert.True(record.Content.Span.SequenceEqual(found!.Content.Span));
            }
        }
    }

    /// <summary>S26: an empty log under an old identity would count as heard.</summary>
    [Fact]
    public async Task Folder_without_the_log_that_was_there_is_refused()
    {
        await using (await OpenAsync(mustExist: false))
        {
        }

        Directory.Delete(Path.Combine(_folder, StoreFolder.LogName), true);
        var error = await Assert.ThrowsAsync<LogDamagedException>(() => OpenAsync(mustExist: true));
        Assert.Contains("Format a new store", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Options_out_of_range_are_refused_by_name()
    {
        var error = await Assert.ThrowsAsync<ArgumentException>(() => StoreFolder.OpenAsync(
            _folder, TestRegion.Store, StoreLogConformance.Small with { LogLimit = 1 << 18 }, false));
        Assert.Contains("LogLimit", error.Message, StringComparison.Ordinal);
    }

    private Task<StoreFolder> OpenAsync(bool mustExist) =>
        StoreFolder.OpenAsync(_folder, TestRegion.Store, StoreLogConformance.Small, mustExist);
}
