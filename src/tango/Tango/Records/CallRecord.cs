using Tango.Formatting;

namespace Tango.Records;

/// <summary>A mutator call as it stands in the log. Key and arguments point into the entry.</summary>
internal ref struct CallRecord
{
    public ObjectId Object { get; init; }

    public int Mutator { get; init; }

    /// <summary>False: the call concerns the whole object.</summary>
    public bool HasKey { get; init; }

    public ReadOnlyMemory<byte> Key { get; private set; }

    public ReadOnlyMemory<byte> Arguments { get; private set; }

    public static CallRecord Read(ref MessagePackReader reader)
    {
        var call = RecordFormat.ReadCall(ref reader);
        if (call.HasKey) call.Key = reader.ReadBinary();
        call.Arguments = reader.ReadBinary();
        return call;
    }
}
