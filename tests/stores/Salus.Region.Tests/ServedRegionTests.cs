using Salus.Region.Core;
using Salus.Region.Recovery;

namespace Salus.Region.Tests;

public sealed class ServedRegionTests
{
    /// <summary>Seed 1202 of the simulator: the end of a process's lease met a disk that failed, and the node
    /// threw.</summary>
    [Fact]
    public async Task Region_ends_though_the_recovery_fails_meanwhile()
    {
        var services = new RegionServices(null!, null!, null!, null!, TimeProvider.System, LoopContext.Pool, new(),
            null!);
        var recovery = new FailingRecovery();
        var region = new ServedRegion(services, new RegionKey(new VolumeId(Guid.NewGuid()), 0), recovery);
        region.Follow(new RegionGeneration(Epoch.First, [], null, IsAdmitted: false),
            VolumeGeometry.Create(64 * 4096, 4096, 64));
        await recovery.Begun.WaitAsync(TestContext.Current.CancellationToken);
        await region.EndAsync();
        Assert.True(region.HasEnded);
        Assert.Null(region.Core);
    }

    private sealed class FailingRecovery : IRegionRecovery
    {
        private readonly TaskCompletionSource _begun = new();

        public Task Begun => _begun.Task;

        public async Task<RecoveredRegion> RecoverAsync(
            RegionKey region, RegionGeneration generation, CancellationToken cancellationToken)
        {
            _begun.TrySetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            throw new StoreFailedException("The log could not be written: the disk failed.");
        }

        public void Adopt(AdoptRequest request, ReplyTo reply) =>
            reply.Send(request.Fail(Status.Unsupported, request.Epoch));
    }
}
