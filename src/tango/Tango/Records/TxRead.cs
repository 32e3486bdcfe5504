namespace Tango.Records;

/// <summary>What a transaction has read of one object.</summary>
/// <param name="Keys">Null: the whole object.</param>
internal readonly record struct TxRead(ObjectId Object, IReadOnlyList<ObjectKey>? Keys);
