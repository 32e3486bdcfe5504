using Microsoft.Extensions.Options;
using Orleans.Storage;

namespace Corfu.Orleans;

/// <summary>Limits and format of one grain storage provider.</summary>
public sealed class CorfuGrainStorageOptions : IStorageProviderSerializerOptions
{
    // A state is written by one transaction and read by one call: a larger one would hold up the others.
    internal const int LargestState = 16 << 20;

    internal static readonly OptionRules<CorfuGrainStorageOptions> Rules =
        new OptionRules<CorfuGrainStorageOptions>(new())
            .Between(o => o.MaxStateBytes, 1, LargestState)
            .AtLeast(o => o.MaxLogSpan, 1)
            .Between(o => o.CompactionPeriod, TimeSpan.FromSeconds(1), TimeSpan.FromDays(1));

    /// <summary>Default: the silo's.</summary>
    public IGrainStorageSerializer GrainStorageSerializer { get; set; } = null!;

    /// <summary>Size of a grain's serialized state, in bytes. A larger one is refused before anything is sent. States
    /// above 512 KiB take several entries of the log. At most 16 MiB. Default: 4 MiB.</summary>
    public int MaxStateBytes { get; set; } = 4 << 20;

    /// <summary>True: silos hold where the states stand in the log, and a read costs one read of the log. False: every
    /// silo holds all states in memory, and a read needs none from disks. Fixed once states are stored. Default:
    /// true.</summary>
    public bool KeepStatesInLog { get; set; } = true;

    /// <summary>For <see cref="KeepStatesInLog"/>: a state that stands so many positions behind the log's tail is
    /// written again, so that the log can be trimmed. At least twice as many positions as there are states are kept.
    /// Default: a million.</summary>
    public long MaxLogSpan { get; set; } = 1_000_000;

    /// <summary>For <see cref="KeepStatesInLog"/>: how often a silo looks for such states. One silo at a time writes
    /// them. Between a second and a day. Default: one minute.</summary>
    public TimeSpan CompactionPeriod { get; set; } = TimeSpan.FromMinutes(1);
}

/// <summary>All faults in one message.</summary>
internal sealed class CorfuGrainStorageOptionsValidator(string provider) : IValidateOptions<CorfuGrainStorageOptions>
{
    public ValidateOptionsResult Validate(string? name, CorfuGrainStorageOptions options)
    {
        if (name != provider) return ValidateOptionsResult.Skip;
        var faults = CorfuGrainStorageOptions.Rules.FaultsOf(options)
            .Select(fault => $"Grain storage '{provider}': {fault}").ToList();
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }
}
