namespace Corfu.Cli;

/// <summary><c>corfu volume</c>: the volumes of Salus.</summary>
internal static class VolumeCommand
{
    public static Command Create() =>
        new("volume", "Volumes: disks that Salus nodes keep, attached over NBD ('corfu salus up' starts nodes).")
        {
            VolumeCreateCommand.Create(),
            VolumeListCommand.Create(),
            VolumeStatusCommand.Create(),
            VolumeServeCommand.Create(),
            VolumeSnapshotCommand.Create(),
            VolumeCheckCommand.Create(),
            VolumeRecoverCommand.Create(),
            VolumeDeleteCommand.Create(),
        };

    public static Argument<string> NameArgument(string description = "The volume's name.") =>
        new("volume") { Description = description };

    /// <summary>Bytes with a unit; others are refused when the command line is read.</summary>
    public static Option<long?> BytesOption(string name, string description, string help) => new(name)
    {
        Description = description,
        HelpName = help,
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (ByteText.TryParse(text, out var bytes)) return bytes;
            result.AddError($"'{text}' is no number of bytes for {name}: a whole number with K, M, G or T, as 64M.");
            return null;
        },
    };
}
