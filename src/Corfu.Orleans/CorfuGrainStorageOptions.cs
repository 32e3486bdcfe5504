using Microsoft.Extensions.Options;
using Orleans.Storage;

namespace Corfu.Orleans;

/// <summary>Limits and format of one grain storage provider.</summary>
public sealed class CorfuGrainStorageOptions : IStorageProviderSerializerOptions
{
    internal const int LargestState = 1 << 20;

    /// <summary>Default: the silo's.</summary>
    public IGrainStorageSerializer GrainStorageSerializer { get; set; } = null!;

    /// <summary>Size of a grain's serialized state, in bytes. A larger one is refused before anything is sent. At most
    /// a MiB, and what an entry of the log holds. Default: 512 KiB.</summary>
    public int MaxStateBytes { get; set; } = 512 * 1024;
}

/// <summary>All faults in one message.</summary>
internal sealed class CorfuGrainStorageOptionsValidator(string provider) : IValidateOptions<CorfuGrainStorageOptions>
{
    public ValidateOptionsResult Validate(string? name, CorfuGrainStorageOptions options)
    {
        if (name != provider) return ValidateOptionsResult.Skip;
        return options.MaxStateBytes is > 0 and <= CorfuGrainStorageOptions.LargestState
            ? ValidateOptionsResult.Success
            : ValidateOptionsResult.Fail($"Grain storage '{provider}': MaxStateBytes: it must be between 1 and "
                + $"{CorfuGrainStorageOptions.LargestState}.");
    }
}
