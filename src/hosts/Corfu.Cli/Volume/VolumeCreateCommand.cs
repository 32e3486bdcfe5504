using Salus.Protocol;

namespace Corfu.Cli;

/// <summary><c>corfu volume create</c>.</summary>
internal static class VolumeCreateCommand
{
    private const string Description =
        """
        Create a volume: a disk of a fixed size, empty. Waits until all its regions have members. 'corfu volume serve'
        attaches it.
        """;

    public static Command Create()
    {
        var name = VolumeCommand.NameArgument("The volume's name, which clients of NBD ask for. It has no '@'.");
        var size = VolumeCommand.BytesOption("--size", "Its size, fixed for ever: a multiple of the block.", "64G");
        size.Required = true;
        var block = VolumeCommand.BytesOption("--block", "A block, from 4K to 256K (default: 4K).", "4K");
        var region = VolumeCommand.BytesOption("--region",
            "A region: the part that moves between nodes (default: an eighth of the volume, 4,096 to 262,144 blocks).",
            "256M");
        var copies = CommonOptions.NumberOption("--copies",
            "Copies of every block, on different nodes. With less than 3 a lost node may take the volume with it.", 3,
            VolumeGeometry.MaxCopies);
        var json = CommonOptions.JsonOption();
        return SalusConnections.WithLog("create", Description, [name, size, block, region, copies, json],
            async (salus, result, cancellationToken) =>
            {
                var volume = result.GetRequiredValue(name);
                await salus.Admin.CreateAsync(volume, GeometryIn(result), cancellationToken);
                await VolumeReport.WriteAsync(result.InvocationConfiguration.Output, salus,
                    await salus.Admin.StatusAsync(volume, cancellationToken), result.GetValue(json));
                return ExitCode.Ok;
            }, result => GeometryIn(result));

        VolumeGeometry GeometryIn(ParseResult result) => GeometryOf(result.GetValue(size)!.Value,
            result.GetValue(block) ?? VolumeGeometry.MinBlockSize, result.GetValue(region), result.GetValue(copies));
    }

    private static VolumeGeometry GeometryOf(long size, long block, long? region, int copies)
    {
        if (block is < 1 or > int.MaxValue)
            throw new UsageException($"A block of {block} bytes: choose a power of two from 4K to 256K.");
        if (region % block is > 0)
            throw new UsageException($"A region of {region} bytes is no multiple of the block, {block} bytes.");
        var blocks = region / block;
        if (blocks > int.MaxValue)
            throw new UsageException(
                $"A region of {region} bytes has more blocks than {VolumeGeometry.MaxRegionBlocks}.");
        return VolumeGeometry.FaultOf(size, (int)block, (int?)blocks, copies) is { } fault
            ? throw new UsageException(fault)
            : VolumeGeometry.Create(size, (int)block, (int?)blocks, copies);
    }
}
