namespace NamenodeSample.Tree;

/// <summary>An operation that was done, as the journal has it.</summary>
/// <param name="Id">Without a gap from 1; of a mark, the id of the edit before it.</param>
/// <param name="Number">The client's own number of the operation: one that is sent again is not done again.</param>
[MessagePackObject]
public sealed record Edit(
    [property: Key(0)] long Id, [property: Key(1)] string Client, [property: Key(2)] long Number,
    [property: Key(3)] Operation Operation)
{
    public static Edit Mark(long last) => new(last, "", 0, new Operation(Verb.Mark, ""));

    public byte[] Encode() => MessagePackSerializer.Serialize(this, MessagePackSerializerOptions.Standard);

    /// <exception cref="JournalException">The bytes are no edit.</exception>
    public static Edit Decode(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            return MessagePackSerializer.Deserialize<Edit>(bytes, MessagePackSerializerOptions.Standard)
                is { Operation.Path: not null } edit
                ? edit
                : throw new JournalException("An entry of the journal is empty");
        }
        catch (MessagePackSerializationException e)
        {
            throw new JournalException($"An entry of the journal is no edit: {e.Message}");
        }
    }
}

/// <summary>The journal is not what a namenode has written.</summary>
public sealed class JournalException(string message) : Exception(message);
